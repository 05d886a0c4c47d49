import { z } from 'zod';
import { reportScoresSchema } from './report-scores.ts';
import { ROW_STATUSES } from './vocabulary.ts';

/** Phases of a run: derived from its conditions for people, never branched on. */
export const RUN_PHASES = [
  'Pending',
  'Preparing',
  'Running',
  'Scoring',
  'Suspended',
  'Completed',
  'Failed',
] as const;
export type RunPhase = (typeof RUN_PHASES)[number];

/** Condition types of a run. Complete and Failed exclude each other. */
export const RUN_CONDITIONS = [
  'SuiteFrozen',
  'GatewayReady',
  'Executed',
  'ArtifactsCollected',
  'Scored',
  'Stalled',
  'Suspended',
  'Complete',
  'Failed',
] as const;
export type RunConditionType = (typeof RUN_CONDITIONS)[number];

/** A condition as Kubernetes writes them. `reason` is CamelCase. */
export const conditionSchema = z.object({
  type: z.enum(RUN_CONDITIONS),
  status: z.enum(['True', 'False', 'Unknown']),
  reason: z.string().min(1).max(1024),
  message: z.string().max(32_768),
  observedGeneration: z.int().min(0),
  lastTransitionTime: z.string(),
});
export type RunCondition = z.infer<typeof conditionSchema>;

const counts = z.record(z.string().max(63), z.int().min(0));

/** Status of a BenchmarkRun: counts only, so that it stays small at any number of trials. */
export const runStatusSchema = z.object({
  observedGeneration: z.int().min(0).optional(),
  phase: z.enum(RUN_PHASES).optional(),
  conditions: z.array(conditionSchema).max(16).default([]),
  /** Trials by phase, outcome and class; recomputed at each look. */
  counts: z
    .object({ trials: z.int().min(0), byPhase: counts, byOutcome: counts, byClass: counts })
    .optional(),
  /** Ended of declared trials, e.g. `23/36`. */
  progress: z.string().max(32).optional(),
  reason: z.string().max(1024).nullable().optional(),
  rowStatus: z.enum(ROW_STATUSES).nullable().optional(),
  /** Written by `publish` with the last round: `scores` of report.json. */
  scores: reportScoresSchema.optional(),
  /** Path of report/ on the volume, relative to it; written by `publish`. */
  reportPath: z.string().max(1024).optional(),
  /** Digests and versions: suite, images, operator. */
  provenance: z.record(z.string().max(63), z.string().max(1024)).optional(),
  /** Claim that holds the artifacts. */
  claimName: z.string().max(253).optional(),
  startTime: z.string().optional(),
  completionTime: z.string().optional(),
  /** Revision of spec.scoring that the scores are of, and of spec.rerun that was taken up. */
  scoredRevision: z.int().optional(),
  rerunRevision: z.int().optional(),
});
export type RunStatus = z.infer<typeof runStatusSchema>;
