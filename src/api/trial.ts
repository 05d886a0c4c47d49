import { z } from 'zod';
import { timestamp } from './schema-parts.ts';
import { resolvedTimeoutsSchema } from './timeouts.ts';
import {
  DIMENSIONS,
  EXECUTION_STATUSES,
  FAILURE_CLASSES,
  KILL_REASONS,
  OUTCOMES,
  TRIAL_PHASES,
} from './vocabulary.ts';

/**
 * One attempt as a Trial's status lists it. A null may be absent: the API server drops nulls of a merge patch, also
 * those inside a list.
 */
export const trialAttemptSchema = z.object({
  number: z.int().positive().describe('Number of the attempt, from 1; never used again.'),
  podName: z.string().max(253).describe('Its pod.'),
  podUID: z.string().max(64).describe('UID of the pod: the attempt belongs to it alone.'),
  startedAt: timestamp.describe('When the pod was made.'),
  endedAt: timestamp.nullable().default(null).describe('When its end was recorded; null while it runs.'),
  class: z
    .enum(FAILURE_CLASSES)
    .nullable()
    .default(null)
    .describe('Class of its failure; null: the agent ended in order.'),
  reason: z
    .string()
    .max(1024)
    .nullable()
    .default(null)
    .describe(
      'Why it ended, as one CamelCase word, e.g. `TurnDeadline`, `ProviderRateLimit`, `Interrupted`.',
    ),
  killReason: z.enum(KILL_REASONS).nullable().default(null).describe('Why the harness ended it, if it did.'),
  counted: z.boolean().describe('Whether it is charged against `spec.retry`; an interrupted one is not.'),
  runtimeMs: z.number().nullable().default(null).describe("Time of the agent's turns, in milliseconds."),
  wallClockMs: z.number().nullable().default(null).describe('Time from first turn to end, in milliseconds.'),
  artifacts: z
    .object({
      path: z.string().max(1024).describe("Folder on the volume, relative to the run's."),
      digest: z.string().max(128).describe('Digest of its manifest.'),
      files: z.int().describe('Collected files.'),
      bytes: z.int().describe('Their bytes.'),
      collected: z.boolean().describe('Whether everything was collected.'),
    })
    .nullable()
    .default(null)
    .describe('What was collected; null: nothing.'),
  rerunRevision: z
    .int()
    .nullable()
    .default(null)

    .describe('Revision of `spec.rerun` that asked for this attempt, when one did.'),
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
