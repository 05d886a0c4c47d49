import { z } from 'zod';
import { readBounded, type BoundedBytes } from './bounded-read.ts';
import { shorten, visibleText } from './visible-text.ts';

/** One line of a transcript as people read it. */
export interface TranscriptLine {
  readonly turn: number | null;
  readonly kind: 'user' | 'assistant' | 'call' | 'result';
  /** Tool of a call or result, else empty; with the runtime's own name where that differs. */
  readonly tool: string;
  /** `ok`, `error` or a number for a result that has one, else empty. */
  readonly status: string;
  readonly text: string;
}

export interface TranscriptExcerpt {
  readonly lines: readonly TranscriptLine[];
  /** Events between the first and the last ones that were left out; null where their number is not known. */
  readonly leftOut: number | null;
  /** Position in `lines` before which something is missing; -1 where nothing is. */
  readonly gapAt: number;
  /** Lines that could not be understood. */
  readonly unreadable: number;
  readonly bytes: number;
}

export interface TranscriptLimits {
  /** Bytes of the file that are looked at. */
  readonly bytes: number;
  /** Events kept: the first half and the last half of them. */
  readonly events: number;
  /** Characters of one event. */
  readonly eventText: number;
}

const loose = z.looseObject({
  type: z.enum(['user_message', 'assistant_message', 'tool_call', 'tool_result']),
  turn: z.number().optional(),
  text: z.string().optional(),
  tool: z.string().optional(),
  nativeName: z.string().optional(),
  args: z.unknown().optional(),
  result: z.unknown().optional(),
  status: z.union([z.number(), z.string()]).nullish(),
});

/**
 * The beginning and the end of a transcript.jsonl, made visible. A transcript of any size costs the bounds
 * alone.
 *
 * @returns undefined where there is no transcript
 */
export function readTranscriptExcerpt(path: string, limits: TranscriptLimits): TranscriptExcerpt | undefined {
  const bytes = readBounded(path, limits.bytes);
  return bytes === undefined ? undefined : transcriptExcerpt(bytes, limits);
}

/** `readTranscriptExcerpt` of bytes that were read. */
export function transcriptExcerpt(bytes: BoundedBytes, limits: TranscriptLimits): TranscriptExcerpt {
  const head = jsonLines(bytes.head, bytes.tail === null ? 'whole' : 'head');
  const tail = bytes.tail === null ? [] : jsonLines(bytes.tail, 'tail');
  const first = eventsOf(head, limits.eventText);
  const last = eventsOf(tail, limits.eventText);
  const all = [...first.lines, ...last.lines];
  const unreadable = first.unreadable + last.unreadable;
  const cut = bytes.tail !== null;
  if (all.length <= limits.events) {
    return {
      lines: all,
      leftOut: cut ? null : 0,
      gapAt: cut ? first.lines.length : -1,
      unreadable,
      bytes: bytes.size,
    };
  }
  const half = Math.floor(limits.events / 2);
  return {
    lines: [...all.slice(0, half), ...all.slice(all.length - half)],
    leftOut: cut ? null : all.length - 2 * half,
    gapAt: half,
    unreadable,
    bytes: bytes.size,
  };
}

/** Whole lines of a part of a file: a head loses its cut last line, a tail its cut first one. */
function jsonLines(bytes: Buffer, part: 'whole' | 'head' | 'tail'): string[] {
  const lines = bytes.toString('utf8').split('\n');
  if (part === 'head') lines.pop();
  if (part === 'tail') lines.shift();
  return lines.filter((line) => line.trim() !== '');
}

function eventsOf(lines: readonly string[], limit: number): { lines: TranscriptLine[]; unreadable: number } {
  const events: TranscriptLine[] = [];
  let unreadable = 0;
  for (const line of lines) {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      unreadable += 1;
      continue;
    }
    // The first line names trial, attempt and session and is no event.
    if (typeof value === 'object' && value !== null && 'schema_version' in value && !('type' in value))
      continue;
    const event = loose.safeParse(value);
    if (event.success) events.push(lineOf(event.data, limit));
    else unreadable += 1;
  }
  return { lines: events, unreadable };
}

function lineOf(event: z.infer<typeof loose>, limit: number): TranscriptLine {
  const show = (value: unknown) => visibleText(shorten(readable(value), limit));
  const turn = event.turn ?? null;
  const tool = visibleText(
    event.nativeName === undefined || event.nativeName === event.tool
      ? (event.tool ?? '')
      : `${event.tool ?? ''} (${event.nativeName})`,
  );
  switch (event.type) {
    case 'user_message':
      return { turn, kind: 'user', tool: '', status: '', text: show(event.text ?? '') };
    case 'assistant_message':
      return { turn, kind: 'assistant', tool: '', status: '', text: show(event.text ?? '') };
    case 'tool_call':
      return { turn, kind: 'call', tool, status: '', text: show(event.args) };
    case 'tool_result':
      return {
        turn,
        kind: 'result',
        tool,
        status: visibleText(String(event.status ?? '')),
        text: show(event.result),
      };
  }
}

/** Text as it is; anything else as indented JSON. */
function readable(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
