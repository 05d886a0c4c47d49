/**
 * `metav1.MicroTime`: RFC 3339 with exactly six digits of fraction; the API server refuses the three that
 * JavaScript writes.
 */
export function microTime(date: Date): string {
  return date.toISOString().replace(/Z$/, '000Z');
}
