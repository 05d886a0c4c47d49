import type { TranscriptHeader } from '../../api/attempt-records.ts';
import type { TraceEvent } from '../../api/trace.ts';

/** Text of transcript.jsonl: the header, then one event a line. Pure; `readTranscript` reads it back. */
export function buildTranscript(header: TranscriptHeader, events: readonly TraceEvent[]): string {
  return [header, ...events].map((line) => `${JSON.stringify(line)}\n`).join('');
}
