import type { Check } from '../../api/scenario.ts';

type Place = readonly (string | number)[];

/** Where a scenario's checks, or one of them, stand in its file: at the top level or in `scoring`. */
export function checkPlace(written: Readonly<Record<string, unknown>>, index?: number): Place {
  const place = written['checks'] === undefined ? ['scoring', 'checks'] : ['checks'];
  return index === undefined ? place : [...place, index];
}

/** The needles of a check and where each stands below it. */
export function needlesOf(
  check: Check,
  written: unknown,
): { readonly place: Place; readonly needle: string }[] {
  const hasPattern = typeof written === 'object' && written !== null && 'pattern' in written;
  if ('patterns' in check) {
    const list = hasPattern ? Array.isArray(written.pattern) : true;
    return check.patterns.map((needle, index) => ({
      place: [hasPattern ? 'pattern' : 'patterns', ...(list ? [index] : [])],
      needle,
    }));
  }
  return 'pattern' in check ? [{ place: ['pattern'], needle: check.pattern }] : [];
}

export function writtenCheck(written: Readonly<Record<string, unknown>>, index: number): unknown {
  let value: unknown = written;
  for (const part of checkPlace(written, index)) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Readonly<Record<string | number, unknown>>)[part];
  }
  return value;
}
