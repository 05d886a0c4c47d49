import { z } from 'zod';
import { ISOLATIONS, KILL_REASONS } from './vocabulary.ts';

/** Version of result.json, meta.json and the other JSON files of an attempt. */
export const ATTEMPT_SCHEMA_VERSION = 1;

/** Error of a model provider as the agent (or the gateway) saw it. */
export const PROVIDER_ERROR_KINDS = [
  'rate_limit',
  'quota',
  'server_error',
  'overloaded',
  'connection',
  'content_filter',
  'context_length',
  'authentication',
  'not_found',
] as const;
export type ProviderErrorKind = (typeof PROVIDER_ERROR_KINDS)[number];

/**
 * A fact that the harness recorded. The harness never judges: one ordered table turns observations into a
 * failure class (src/attempt/failure-class.ts).
 */
export const observationSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('agent_exit'), code: z.int().nullable(), signal: z.string().nullable() }),
  /** The harness ended the turn. `sigterm` and `sigkill` tell what it took. */
  z.object({
    kind: z.literal('killed'),
    reason: z.enum(KILL_REASONS),
    turn: z.int(),
    escalated: z.boolean(),
  }),
  z.object({ kind: z.literal('agent_oom'), oomKills: z.int() }),
  z.object({ kind: z.literal('agent_pids_limit') }),
  /** `final`: the agent did not recover from it; it is why the turn ended. */
  z.object({
    kind: z.literal('provider_error'),
    error: z.enum(PROVIDER_ERROR_KINDS),
    status: z.int().nullable(),
    final: z.boolean(),
    message: z.string(),
    /**
     * Where the harness carries the agent's model calls itself: whether it saw the error. An agent can write any
     * error into its session; one that only the session tells of is never final.
     */
    confirmed: z.boolean().optional(),
  }),
  /**
   * The run's gateway did not answer the attempt's model endpoint, as the harness saw it: nothing that an agent
   * does brings it about. `final`: no later call was answered.
   */
  z.object({ kind: z.literal('gateway_down'), calls: z.int(), final: z.boolean(), message: z.string() }),
  /** The connection to the shim was lost while an agent could run. */
  z.object({ kind: z.literal('shim_lost'), message: z.string() }),
  /** The shim never connected, or not in time. */
  z.object({ kind: z.literal('shim_missing'), message: z.string() }),
  z.object({ kind: z.literal('spawn_failed'), message: z.string() }),
  /** `reason` of these three: the word of an InfrastructureError, e.g. `DiskFull`, where there is one. */
  z.object({ kind: z.literal('staging_failed'), message: z.string(), reason: z.string().optional() }),
  z.object({ kind: z.literal('setup_failed'), message: z.string(), reason: z.string().optional() }),
  z.object({ kind: z.literal('collection_failed'), message: z.string(), reason: z.string().optional() }),
  /** The adapter could not read what the runtime left, or threw. */
  z.object({ kind: z.literal('adapter_error'), message: z.string() }),
  /**
   * No transcript, or only the runtime's placeholder. `placeholder` is true when a session was there, but with
   * no answer of the model in it: an agent can cause that; a session that is nowhere is for the adapter.
   */
  z.object({ kind: z.literal('transcript_missing'), placeholder: z.boolean().optional() }),
  z.object({ kind: z.literal('workspace_missing') }),
  /** Processes that were still alive when a turn had ended, and were killed. */
  z.object({ kind: z.literal('leftover_processes'), count: z.int(), commands: z.array(z.string()) }),
  z.object({ kind: z.literal('interrupted'), message: z.string() }),
]);
export type Observation = z.infer<typeof observationSchema>;

/** Why the completion gate holds an executor for complete, in the order of the specification. */
export const COMPLETION_SIGNALS = ['stop_reason', 'pending_tool_call', 'text_marker', 'none'] as const;

export const completionSchema = z.object({
  completed: z.boolean(),
  signal: z.enum(COMPLETION_SIGNALS),
  reason: z.string(),
  /** A completing stop reason met a pending tool call: the stop reason stands, and the record says so. */
  conflict: z.boolean(),
  /** Stop reason of the last model answer in the runtime's word; null where the runtime has none. */
  stopReason: z.string().nullable().optional(),
});
export type Completion = z.infer<typeof completionSchema>;

/** result.json: written once, last, by the harness. Times in milliseconds. */
export const attemptResultSchema = z.object({
  schema_version: z.literal(ATTEMPT_SCHEMA_VERSION),
  trial: z.string(),
  attempt: z.int().positive(),
  podUID: z.string(),
  startedAt: z.string(),
  endedAt: z.string(),
  observations: z.array(observationSchema),
  killReason: z.enum(KILL_REASONS).nullable(),
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  oomKills: z.int(),
  turns: z.int(),
  completion: completionSchema,
  /** Executor time only: the basis of the total budget. */
  runtimeMs: z.number(),
  /** Everything: staging, settling, collection, supervision, waits. */
  wallClockMs: z.number(),
  collected: z.boolean(),
  manifestDigest: z.string().nullable(),
  isolation: z.enum(ISOLATIONS),
});
export type AttemptResult = z.infer<typeof attemptResultSchema>;

/** usage.json: what an attempt consumed. A null was not reported by anybody. */
export const usageSchema = z.object({
  schema_version: z.literal(ATTEMPT_SCHEMA_VERSION),
  assistantTurns: z.int(),
  toolCalls: z.int(),
  inputTokens: z.number().nullable(),
  outputTokens: z.number().nullable(),
  cacheReadTokens: z.number().nullable(),
  cacheWriteTokens: z.number().nullable(),
  totalTokens: z.number().nullable(),
  costUsd: z.number().nullable(),
  /** Who counted: the runtime's report, the gateway's journal, an estimate, or nobody. */
  source: z.enum(['runtime', 'gateway', 'estimate', 'none']),
});
export type Usage = z.infer<typeof usageSchema>;
