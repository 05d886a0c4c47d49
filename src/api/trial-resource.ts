import { z } from 'zod';
import type { API_VERSION } from './benchmark-run.ts';
import { resolvedTimeoutsSchema } from './timeouts.ts';
import { trialAttemptSchema, type TrialRecord } from './trial.ts';
import { DIMENSIONS, EXECUTION_STATUSES, FAILURE_CLASSES, OUTCOMES, TRIAL_PHASES } from './vocabulary.ts';

/** Spec of a Trial: immutable. */
export const trialSpecSchema = z.object({
  runName: z.string().min(1).max(253),
  scenarioId: z.string().min(1).max(128),
  trialNumber: z.int().min(1).max(100),
  dimension: z.enum(DIMENSIONS),
  scenarioDigest: z.string().max(128),
  suiteDigest: z.string().max(128),
});
export type TrialSpec = z.infer<typeof trialSpecSchema>;

/** What an attempt consumed, as far as anybody counted. */
export const trialUsageSchema = z.object({
  toolCalls: z.int(),
  totalTokens: z.number().nullable(),
  costUsd: z.number().nullable(),
});

/**
 * Status of a Trial. The controller owns all but `outcome` and `score` of a graded trial, which `publish` writes
 * together with phase Scored. A field that is absent says nothing yet.
 */
export const trialStatusSchema = z.object({
  phase: z.enum(TRIAL_PHASES).default('Pending'),
  timeouts: resolvedTimeoutsSchema.optional(),
  attempts: z.array(trialAttemptSchema).max(1000).default([]),
  rerunRevision: z.int().nullable().default(null),
  /** Number of the attempt whose result stands for the trial. */
  decidedBy: z.int().positive().nullable().default(null),
  execution: z.enum(EXECUTION_STATUSES).nullable().default(null),
  class: z.enum(FAILURE_CLASSES).nullable().default(null),
  outcome: z.enum(OUTCOMES).nullable().default(null),
  score: z.number().nullable().default(null),
  /** `spec.scoring.revision` that the score is of. */
  scoredRevision: z.int().nullable().default(null),
  usage: trialUsageSchema.nullable().default(null),
  /** Not before this time does the next attempt start (phase Backoff). */
  notBefore: z.string().nullable().default(null),
  reason: z.string().max(1024).nullable().default(null),
});
export type TrialStatus = z.infer<typeof trialStatusSchema>;

export interface TrialResource {
  readonly apiVersion: typeof API_VERSION;
  readonly kind: 'Trial';
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec: TrialSpec;
  readonly status?: z.input<typeof trialStatusSchema>;
}

/** trial.json of a Trial of a cluster: the record from which reports are made, everywhere the same. */
export function trialRecordOf(trial: TrialResource, timeouts: TrialRecord['timeouts']): TrialRecord {
  const status = trialStatusSchema.parse(trial.status ?? {});
  return {
    schema_version: 1,
    name: trial.metadata.name,
    runName: trial.spec.runName,
    scenarioId: trial.spec.scenarioId,
    trialNumber: trial.spec.trialNumber,
    dimension: trial.spec.dimension,
    scenarioDigest: trial.spec.scenarioDigest,
    phase: status.phase,
    timeouts: status.timeouts ?? timeouts,
    attempts: status.attempts,
    rerunRevision: status.rerunRevision,
    decidedBy: status.decidedBy,
    execution: status.execution,
    class: status.class,
    outcome: status.outcome,
    score: status.score,
    reason: status.reason,
  };
}
