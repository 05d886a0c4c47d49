import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { z } from 'zod';
import { usageSchema } from '../api/attempt.ts';
import { attemptMetaSchema } from '../api/attempt-meta.ts';
import { auditStateSchema, transcriptHeaderSchema } from '../api/attempt-records.ts';
import type { TranscriptHeader } from '../api/attempt-records.ts';
import { errnoOf, InvalidInputError } from '../api/errors.ts';
import type { InputProblem } from '../api/errors.ts';
import { attemptLayout } from '../api/run-layout.ts';
import { traceEventSchema, traceMetricsSchema } from '../api/trace.ts';
import type { Trace, TraceEvent, TraceMetrics } from '../api/trace.ts';
import { readJsonRecord } from '../files/durable.ts';

export interface Transcript {
  readonly header: TranscriptHeader;
  readonly events: readonly TraceEvent[];
}

/** Problems of one file that are told; a broken file has as many as lines. */
const PROBLEMS_TOLD = 20;

/**
 * Reads transcript.jsonl and validates every line.
 *
 * @returns undefined when there is no such file
 * @throws InvalidInputError with file, line and field of what is wrong
 */
export async function readTranscript(path: string): Promise<Transcript | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  const problems: InputProblem[] = [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const header = parseLine(transcriptHeaderSchema, lines[0] ?? '', path, 1, problems);
  const events: TraceEvent[] = [];
  let seq = 0;
  for (const [index, line] of lines.slice(1).entries()) {
    const number = index + 2;
    const event = parseLine(traceEventSchema, line, path, number, problems);
    if (event === undefined) {
      if (problems.length >= PROBLEMS_TOLD) break;
      continue;
    }
    if (event.seq <= seq) {
      problems.push({ file: path, line: number, field: 'seq', message: `must be above ${seq}` });
    }
    seq = event.seq;
    events.push(event);
  }
  const [first, ...rest] = problems;
  if (first !== undefined) throw new InvalidInputError([first, ...rest]);
  if (header === undefined) throw new InvalidInputError({ file: path, line: 1, message: 'has no header' });
  return { header, events };
}

function parseLine<Schema extends z.ZodType>(
  schema: Schema,
  line: string,
  file: string,
  number: number,
  problems: InputProblem[],
): z.output<Schema> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    problems.push({ file, line: number, message: 'is not a line of JSON' });
    return undefined;
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    problems.push({ file, line: number, field: issue.path.join('.'), message: issue.message });
  }
  return undefined;
}

/**
 * The trace of an attempt as checks and checkers are given it: events of transcript.jsonl, metrics of usage.json,
 * executor time of meta.json, state of audit_state.json. What an attempt did not come to write is empty: an
 * attempt that left no transcript did nothing that can be seen.
 *
 * @param identity what the transcript must belong to; a transcript of another trial is never graded
 * @throws InvalidInputError when one of the files is broken or belongs to another attempt
 */
export async function traceOfAttempt(
  attemptDir: string,
  identity?: { readonly trial: string; readonly attempt: number },
): Promise<Trace> {
  const layout = attemptLayout(attemptDir);
  const [transcript, usage, meta, auditState] = await Promise.all([
    readTranscript(layout.transcriptJsonl),
    readJsonRecord(usageSchema, layout.usageJson),
    readJsonRecord(attemptMetaSchema, layout.metaJson),
    readJsonRecord(auditStateSchema, layout.auditStateJson),
  ]);
  for (const [path, record] of [
    [layout.transcriptJsonl, transcript?.header],
    [layout.metaJson, meta],
  ] as const) {
    if (identity === undefined || record === undefined) continue;
    if (record.trial === identity.trial && record.attempt === identity.attempt) continue;
    throw new InvalidInputError({
      file: path,
      message: `belongs to attempt ${record.attempt} of trial ${record.trial}, not to attempt ${identity.attempt} of ${identity.trial}`,
      remedy: `Restore ${basename(path)} of this attempt from where the run was kept.`,
    });
  }
  return {
    events: [...(transcript?.events ?? [])],
    metrics: metricsOf(usage, meta?.runtimeMs),
    audit_state: auditState?.state ?? {},
  };
}

/** Metrics of a trace; what nobody reported counts as 0. */
function metricsOf(
  usage: z.output<typeof usageSchema> | undefined,
  runtimeMs: number | undefined,
): TraceMetrics {
  const estimated = usage?.source === 'estimate';
  return traceMetricsSchema.parse({
    assistant_turns: usage?.assistantTurns,
    tool_calls: usage?.toolCalls,
    input_tokens: usage?.inputTokens ?? 0,
    output_tokens: usage?.outputTokens ?? 0,
    cache_read_tokens: usage?.cacheReadTokens ?? 0,
    cache_write_tokens: usage?.cacheWriteTokens ?? 0,
    total_tokens: usage?.totalTokens ?? 0,
    cost_usd: usage?.costUsd ?? 0,
    wall_time_s: runtimeMs === undefined ? 0 : runtimeMs / 1000,
    ...(estimated ? { estimated } : {}),
  });
}
