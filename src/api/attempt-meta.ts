import { z } from 'zod';
import { ATTEMPT_SCHEMA_VERSION, COMPLETION_SIGNALS } from './attempt.ts';
import { resolvedTimeoutsSchema } from './timeouts.ts';
import { ISOLATIONS, KILL_REASONS, RUNTIME_IDS } from './vocabulary.ts';

/**
 * One step of an attempt as the harness dispatched or saw it. `at` is ISO 8601; `runtimeMs` is the executor time
 * that was used up until then, so that each bound can be checked from the record.
 */
const at = { at: z.string(), runtimeMs: z.number() };
export const dispatchEventSchema = z.discriminatedUnion('event', [
  z.object({ ...at, event: z.literal('staged') }),
  z.object({ ...at, event: z.literal('shim_connected') }),
  z.object({ ...at, event: z.literal('turn_started'), turn: z.int(), timeoutSeconds: z.number() }),
  /** The first growth of log, transcript or results in a turn. */
  z.object({ ...at, event: z.literal('first_progress'), turn: z.int() }),
  z.object({ ...at, event: z.literal('extended'), turn: z.int(), seconds: z.number(), why: z.string() }),
  z.object({ ...at, event: z.literal('sigterm'), turn: z.int(), reason: z.enum(KILL_REASONS) }),
  z.object({ ...at, event: z.literal('sigkill'), turn: z.int(), reason: z.enum(KILL_REASONS) }),
  z.object({
    ...at,
    event: z.literal('turn_exited'),
    turn: z.int(),
    code: z.int().nullable(),
    signal: z.string().nullable(),
    oomKills: z.int(),
  }),
  /** Every process of the agent is dead. */
  z.object({ ...at, event: z.literal('turn_dead'), turn: z.int(), leftover: z.int() }),
  z.object({ ...at, event: z.literal('settled') }),
  z.object({ ...at, event: z.literal('supervised'), turn: z.int(), verdict: z.string() }),
  /** From here on nothing of the agent runs, and what it left is copied. */
  z.object({ ...at, event: z.literal('collecting') }),
  z.object({ ...at, event: z.literal('collected'), complete: z.boolean() }),
]);
export type DispatchEvent = z.infer<typeof dispatchEventSchema>;

export const continuationSchema = z.object({
  /** Turn that the message began, from 2. */
  turn: z.int().min(2),
  /** Its file, e.g. `continuation_02.md`. */
  file: z.string(),
  sha256: z.string(),
});

export const supervisionDecisionSchema = z.object({
  turn: z.int(),
  /** What the supervisor said, and what the harness made of it. */
  verdict: z.enum(['pass', 'continue', 'fail']),
  decision: z.enum(['pass', 'continue', 'fail']),
  /** Why the decision differs from the verdict, e.g. the completion gate. */
  because: z.string().nullable(),
  attemptState: z.string(),
  recoverable: z.boolean(),
  score: z.number().nullable(),
});

/** meta.json: how an attempt was made and how it went. Facts only; its class stands in the Trial. */
export const attemptMetaSchema = z.object({
  schema_version: z.literal(ATTEMPT_SCHEMA_VERSION),
  trial: z.string(),
  attempt: z.int().positive(),
  /** Id of the scenario or task. */
  taskId: z.string(),
  /** Runtime id, aliases resolved. */
  backend: z.enum(RUNTIME_IDS),
  /** null where the run has no model. */
  model: z.string().nullable(),
  sessionId: z.string().nullable(),
  startedAt: z.string(),
  endedAt: z.string(),
  turns: z.int(),
  continuations: z.array(continuationSchema),
  supervisionDecisions: z.array(supervisionDecisionSchema),
  /** Executor time only: the basis of the total budget. */
  runtimeMs: z.number(),
  /** Everything, up to the writing of this file. */
  wallClockMs: z.number(),
  agentExitCode: z.int().nullable(),
  agentSignal: z.string().nullable(),
  killReason: z.enum(KILL_REASONS).nullable(),
  oomKills: z.int(),
  executorCompleted: z.boolean(),
  executorCompletionSignal: z.enum(COMPLETION_SIGNALS),
  executorCompletionReason: z.string(),
  executorCompletionConflict: z.boolean(),
  timeouts: resolvedTimeoutsSchema,
  isolation: z.enum(ISOLATIONS),
  dispatch: z.array(dispatchEventSchema),
  /** Of the workspace as it was staged, before the agent. */
  stagedWorkspaceDigest: z.string(),
  /** Of the workspace as it was collected; null when it was not. */
  workspaceDigest: z.string().nullable(),
  /** SHA-256 of prompt.md as the agent was told it, and of the shared prefix in it; null where none was added. */
  promptSha256: z.string(),
  promptPrefixSha256: z.string().nullable(),
  versions: z.object({
    operator: z.string(),
    runtime: z.string(),
    adapter: z.string(),
    toolMap: z.string(),
    node: z.string(),
  }),
});
export type AttemptMeta = z.infer<typeof attemptMetaSchema>;
