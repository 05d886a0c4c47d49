import { StringDecoder } from 'node:string_decoder';
import type { TokenUsage } from '../../api/model-calls.ts';
import type { AnswerMeter } from './wire-format.ts';

/** Bounds of what is kept of an answer to read its tokens; longer documents and lines are passed on unread. */
const DOCUMENT_BYTES = 16 * 1024 * 1024;
const LINE_LENGTH = 1024 * 1024;

/** Counts found in one JSON value of an answer; later values of a stream stand over earlier ones. */
export type ReadUsage = (value: Readonly<Record<string, unknown>>) => Partial<TokenUsage> | null;

/** The meter of a format whose documents and events carry their tokens as `read` finds them. */
export function createMeter(stream: boolean, read: ReadUsage): AnswerMeter {
  return stream ? eventMeter(read) : documentMeter(read);
}

function documentMeter(read: ReadUsage): AnswerMeter {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  return {
    push: (piece) => {
      bytes += piece.byteLength;
      if (bytes <= DOCUMENT_BYTES) pieces.push(piece);
    },
    end: () => {
      const json = bytes > DOCUMENT_BYTES ? undefined : parseJson(Buffer.concat(pieces).toString('utf8'));
      return { usage: isRecord(json) ? wholeUsage(read(json) ?? {}) : null, json };
    },
  };
}

function eventMeter(read: ReadUsage): AnswerMeter {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let skipping = false;
  let usage: Partial<TokenUsage> = {};
  const line = (text: string) => {
    if (!text.startsWith('data:')) return;
    const value = parseJson(text.slice('data:'.length));
    if (isRecord(value)) usage = { ...usage, ...read(value) };
  };
  const take = (text: string) => {
    const lines = (rest + text).split(/\r\n|\n|\r/);
    rest = lines.pop() ?? '';
    for (const whole of lines) {
      if (!skipping) line(whole);
      skipping = false;
    }
    if (rest.length > LINE_LENGTH) {
      rest = '';
      skipping = true;
    }
  };
  return {
    push: (piece) => take(decoder.write(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength))),
    end: () => {
      take(`${decoder.end()}\n`);
      return { usage: wholeUsage(usage), json: undefined };
    },
  };
}

/** Nothing is made up: without the two counts that every format has there is no usage. */
function wholeUsage({
  input,
  output,
  cacheRead = 0,
  cacheWrite = 0,
}: Partial<TokenUsage>): TokenUsage | null {
  return input === undefined || output === undefined ? null : { input, output, cacheRead, cacheWrite };
}

/** The counts among `fields`: whole numbers that are not negative; everything else is left out. */
export function counts(fields: Readonly<Record<keyof TokenUsage, unknown>>): Partial<TokenUsage> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isCount(value)));
}

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
