import { isRecord } from './meter.ts';
import type { ParsedRequest } from './wire-format.ts';

/**
 * Reads what all formats share of a request.
 *
 * @param told names of the fields that the model is told: they are required by name where `required` says so
 */
export function parseRequest(body: unknown, told: readonly string[], required: string): ParsedRequest {
  if (!isRecord(body)) return { ok: false, problem: 'the body is no JSON object' };
  const { model, stream } = body;
  if (typeof model !== 'string' || model === '') return { ok: false, problem: 'model: a name is needed' };
  const content = body[required];
  if (!(Array.isArray(content) && content.length > 0) && !(typeof content === 'string' && content !== '')) {
    return { ok: false, problem: `${required}: something to answer is needed` };
  }
  if (stream !== undefined && stream !== null && typeof stream !== 'boolean') {
    return { ok: false, problem: 'stream: true or false is needed' };
  }
  const promptBytes = told
    .map((name) => body[name])
    .filter((value) => value !== undefined && value !== null)
    .reduce((sum: number, value) => sum + Buffer.byteLength(JSON.stringify(value)), 0);
  return { ok: true, request: { body, model, stream: stream === true, promptBytes } };
}

/** One server-sent event. */
export function event(data: unknown, name?: string): string {
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}

/** The text in pieces of a few words, as models stream it. */
export function inPieces(text: string): readonly string[] {
  return text.match(/\s*\S+(?:\s+\S+){0,2}\s*/gu) ?? [text];
}
