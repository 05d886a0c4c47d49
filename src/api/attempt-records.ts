import { z } from 'zod';
import { ATTEMPT_SCHEMA_VERSION } from './attempt.ts';

const schema_version = z.literal(ATTEMPT_SCHEMA_VERSION);

/** First line of transcript.jsonl: what the events behind it belong to. */
export const transcriptHeaderSchema = z.object({
  schema_version,
  trial: z.string(),
  attempt: z.int().positive(),
  /** The runtime's own name of the session; null where it gave none. */
  sessionId: z.string().nullable(),
  adapterVersion: z.string(),
});
export type TranscriptHeader = z.infer<typeof transcriptHeaderSchema>;

/** One tool call in tool_usage.json. */
export const toolCallRecordSchema = z.object({
  /** Position of the call in transcript.jsonl. */
  seq: z.int(),
  turn: z.int().nullable(),
  tool: z.string(),
  nativeName: z.string().nullable(),
  surface: z.string().nullable(),
  unmapped: z.boolean(),
  call_id: z.string().nullable(),
  /** Position of its result; null where the transcript has none. */
  resultSeq: z.int().nullable(),
  status: z.union([z.int(), z.string()]).nullable(),
});
export type ToolCallRecord = z.infer<typeof toolCallRecordSchema>;

/** tool_usage.json. Names of tools are the normalised ones. */
export const toolUsageSchema = z.object({
  schema_version,
  /** Distinct names, in order of first use. */
  tool_names: z.array(z.string()),
  tool_counts: z.record(z.string(), z.int()),
  tool_calls: z.array(toolCallRecordSchema),
});
export type ToolUsage = z.infer<typeof toolUsageSchema>;

/** runtime_probe.json: what was seen around the agent after its last turn, before anything was killed or moved. */
export const runtimeProbeSchema = z.object({
  schema_version,
  takenAt: z.string(),
  /** Processes that the agent left when its last turn had ended. */
  processes: z.array(z.object({ pid: z.int(), uid: z.int().nullable(), command: z.string() })),
  /** Files the agent made or changed, without scaffold and unchanged files of the scenario. */
  result_files: z.array(z.object({ path: z.string(), bytes: z.int(), sha256: z.string() })),
  /** More result files than are listed. */
  result_files_unlisted: z.int(),
  workspace: z.object({ exists: z.boolean(), files: z.int(), bytes: z.int(), omitted: z.int() }),
});
export type RuntimeProbe = z.infer<typeof runtimeProbeSchema>;

/** Phases of an attempt, the top rows of its timeline. */
export const TIMELINE_PHASES = ['container_lifecycle', 'executor', 'supervision', 'artifact'] as const;
export type TimelinePhase = (typeof TIMELINE_PHASES)[number];

export const timelineSpanSchema = z.object({
  /** Unique within the file. */
  id: z.string(),
  parent: z.string().nullable(),
  phase: z.enum(TIMELINE_PHASES),
  name: z.string(),
  /** Milliseconds from `origin`. */
  startMs: z.number(),
  /** null: it did not end before the attempt did. */
  endMs: z.number().nullable(),
  turn: z.int().nullable(),
});
export type TimelineSpan = z.infer<typeof timelineSpanSchema>;

/** timeline.json. */
export const timelineSchema = z.object({
  schema_version,
  /** ISO 8601: what the spans count from. */
  origin: z.string(),
  spans: z.array(timelineSpanSchema),
  /** Tool calls that the runtime gave no times for. */
  untimedToolCalls: z.int(),
});
export type Timeline = z.infer<typeof timelineSchema>;

/** audit_state.json: what checks of type audit_state_match look into. */
export const auditStateSchema = z.object({
  schema_version,
  state: z.record(z.string(), z.unknown()),
});
