import { z } from 'zod';
import { resolvedTimeoutsSchema } from './timeouts.ts';
import {
  DIMENSIONS,
  EXECUTION_STATUSES,
  FAILURE_CLASSES,
  KILL_REASONS,
  OUTCOMES,
  TRIAL_PHASES,
} from './vocabulary.ts';

/** One attempt as a Trial's status lists it. */
export const trialAttemptSchema = z.object({
  number: z.int().positive(),
  podName: z.string(),
  podUID: z.string(),
  startedAt: z.string(),
  endedAt: z.string().nullable(),
  /** null: the agent ended in order. */
  class: z.enum(FAILURE_CLASSES).nullable(),
  /** CamelCase, e.g. `TurnDeadline`, `ProviderRateLimit`, `Interrupted`. */
  reason: z.string().nullable(),
  killReason: z.enum(KILL_REASONS).nullable(),
  /** Whether this attempt is charged against `spec.retry`; an interrupted one is not. */
  counted: z.boolean(),
  runtimeMs: z.number().nullable(),
  wallClockMs: z.number().nullable(),
  artifacts: z
    .object({ path: z.string(), digest: z.string(), files: z.int(), bytes: z.int(), collected: z.boolean() })
    .nullable(),
  /** Revision of `spec.rerun` that asked for this attempt, when one did. */
  rerunRevision: z.int().nullable().default(null),
});
export type TrialAttempt = z.infer<typeof trialAttemptSchema>;

/** trials/<trial>/trial.json on one machine: what Trial spec and status hold in a cluster. */
export const trialRecordSchema = z.object({
  schema_version: z.literal(1),
  name: z.string(),
  runName: z.string(),
  scenarioId: z.string(),
  trialNumber: z.int().positive(),
  dimension: z.enum(DIMENSIONS),
  scenarioDigest: z.string(),
  phase: z.enum(TRIAL_PHASES),
  timeouts: resolvedTimeoutsSchema,
  attempts: z.array(trialAttemptSchema),
  /** Revision of `spec.rerun` that opened the trial again; null for its first base. */
  rerunRevision: z.int().nullable().default(null),
  /** Number of the attempt whose result stands for the trial; null while none ended. */
  decidedBy: z.int().positive().nullable(),
  execution: z.enum(EXECUTION_STATUSES).nullable(),
  class: z.enum(FAILURE_CLASSES).nullable(),
  outcome: z.enum(OUTCOMES).nullable(),
  score: z.number().nullable(),
  reason: z.string().nullable(),
});
export type TrialRecord = z.infer<typeof trialRecordSchema>;
