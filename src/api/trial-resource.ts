import { z } from 'zod';
import type { API_VERSION } from './benchmark-run.ts';
import { withRules } from './rules.ts';
import { timestamp } from './schema-parts.ts';
import type { StoredMetadata } from './stored-metadata.ts';
import { resolvedTimeoutsSchema } from './timeouts.ts';
import { trialAttemptSchema, type TrialRecord } from './trial.ts';
import { DIMENSIONS, EXECUTION_STATUSES, FAILURE_CLASSES, OUTCOMES, TRIAL_PHASES } from './vocabulary.ts';

/** Spec of a Trial: immutable. */
export const trialSpecSchema = withRules(
  z.object({
    runName: z.string().min(1).max(253).describe('The run that the trial belongs to.'),
    scenarioId: z.string().min(1).max(128).describe('Its scenario.'),
    trialNumber: z.int().min(1).max(100).describe('Which trial of the scenario, from 1.'),
    dimension: z.enum(DIMENSIONS).describe("The scenario's dimension."),
    scenarioDigest: z.string().max(128).describe('Digest of the frozen scenario.'),
    suiteDigest: z.string().max(128).describe('Digest of the frozen suite.'),
  }),
  [
    {
      message:
        'spec of a Trial is frozen: trials are made by the operator; use rerun of the run for another attempt',
      cel: 'self == oldSelf',
    },
  ],
);
export type TrialSpec = z.infer<typeof trialSpecSchema>;

/** What an attempt consumed, as far as anybody counted. */
export const trialUsageSchema = z.object({
  toolCalls: z.int().describe('Calls of tools.'),
  totalTokens: z
    .number()
    .nullable()
    .default(null)
    .describe('Tokens, input and output; null where nobody counted.'),
  costUsd: z.number().nullable().default(null).describe('Cost in USD; null without prices.'),
});

/**
 * Status of a Trial. The controller owns all but `outcome` and `score` of a graded trial, which `publish` writes
 * together with phase Scored. A field that is absent says nothing yet.
 */
export const trialStatusSchema = z.object({
  phase: z.enum(TRIAL_PHASES).default('Pending').describe('Where the trial stands.'),
  timeouts: resolvedTimeoutsSchema.optional().describe('Its clocks, in seconds, after file, spec and scale.'),
  attempts: z
    .array(trialAttemptSchema)
    .max(1000)
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['number'] })
    .default([])
    .describe('Every attempt, by number; none is ever removed.'),
  rerunRevision: z
    .int()
    .nullable()
    .default(null)
    .describe('`spec.rerun.revision` that opened the trial again.'),
  decidedBy: z
    .int()
    .positive()
    .nullable()
    .default(null)
    .describe('Number of the attempt whose result stands for the trial.'),
  execution: z.enum(EXECUTION_STATUSES).nullable().default(null).describe('How that attempt ended.'),
  class: z.enum(FAILURE_CLASSES).nullable().default(null).describe('Class of its failure, if it failed.'),
  outcome: z.enum(OUTCOMES).nullable().default(null).describe('What the trial counts as.'),
  score: z.number().nullable().default(null).describe('Score, 0 to 1.'),
  scoredRevision: z.int().nullable().default(null).describe('`spec.scoring.revision` that the score is of.'),
  usage: trialUsageSchema.nullable().default(null).describe('What that attempt consumed.'),
  notBefore: timestamp
    .nullable()
    .default(null)
    .describe('Not before this time does the next attempt start (phase Backoff).'),
  reason: z.string().max(1024).nullable().default(null).describe('Why the trial stands where it does.'),
});
export type TrialStatus = z.infer<typeof trialStatusSchema>;

export interface TrialResource {
  readonly apiVersion: typeof API_VERSION;
  readonly kind: 'Trial';
  readonly metadata: StoredMetadata;
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
