import { z } from 'zod';
import type { API_VERSION, BenchmarkRunSpec } from './benchmark-run.ts';
import { reportScoresSchema } from './report-scores.ts';
import { withRules } from './rules.ts';
import { boundedMap, timestamp } from './schema-parts.ts';
import type { StoredMetadata } from './stored-metadata.ts';
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
  type: z.enum(RUN_CONDITIONS).describe('What the condition is about.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether it holds.'),
  reason: z.string().min(1).max(1024).describe('Why, as one CamelCase word.'),
  message: z.string().max(32_768).describe('Why, as a sentence.'),
  observedGeneration: z.int().min(0).describe('Generation of the spec that it is about.'),
  lastTransitionTime: timestamp.describe('When `status` changed last.'),
});
export type RunCondition = z.infer<typeof conditionSchema>;

const count = z.int().min(0);
const counts = boundedMap(z.string().max(63), count, 32);

/** Status of a BenchmarkRun: counts only, so that it stays small at any number of trials. */
export const runStatusSchema = withRules(
  z.object({
    observedGeneration: count.optional().describe('Generation of the spec that the status is about.'),
    phase: z
      .enum(RUN_PHASES)
      .optional()
      .describe('Where the run stands, for people; programs read the conditions.'),
    conditions: z
      .array(conditionSchema)
      .max(16)
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] })
      .default([])
      .describe('Conditions. Complete and Failed exclude each other.'),
    counts: z
      .object({
        trials: count.describe('Declared trials.'),
        byPhase: counts.describe('Trials by phase.'),
        byOutcome: counts.describe('Ended trials by outcome.'),
        byClass: counts.describe('Trials by class of their failure.'),
        passed: count.optional().describe('Trials whose outcome is pass.'),
        failed: count
          .optional()
          .describe('Trials whose outcome is threshold_miss, safety_failure or execution_failure.'),
      })
      .optional()
      .describe('Trials, counted anew at each look.'),
    progress: z.string().max(32).optional().describe('Ended of declared trials, e.g. `23/36`.'),
    reason: z.string().max(1024).nullable().optional().describe('Why the run stands where it does.'),
    rowStatus: z.enum(ROW_STATUSES).nullable().optional().describe('What a board may say of the row.'),
    scores: reportScoresSchema
      .optional()
      .describe('Scores of the run: `scores` of report.json, written with the last score round.'),
    reportPath: z
      .string()
      .max(1024)
      .optional()
      .describe('Folder of the report on the volume, relative to its root.'),
    provenance: boundedMap(z.string().max(63), z.string().max(1024), 64)
      .optional()
      .describe('Digests and versions: suite, images, operator.'),
    claimName: z.string().max(253).optional().describe('Claim that holds the artifacts.'),
    startTime: timestamp.optional().describe('When the run began.'),
    completionTime: timestamp.optional().describe('When it became Complete or Failed.'),
    scoredRevision: z.int().optional().describe('`spec.scoring.revision` that the scores are of.'),
    rerunRevision: z.int().optional().describe('`spec.rerun.revision` that was taken up last.'),
  }),
  [
    {
      message: 'Complete and Failed exclude each other: set one of them to False',
      cel: "!has(self.conditions) || self.conditions.filter(c, c.status == 'True' && c.type in ['Complete', 'Failed']).size() < 2",
      field: ['conditions'],
      holds: ({ conditions }) =>
        conditions.filter((c) => c.status === 'True' && (c.type === 'Complete' || c.type === 'Failed'))
          .length < 2,
    },
  ],
);
export type RunStatus = z.infer<typeof runStatusSchema>;

/** A BenchmarkRun as the API server has it: defaults filled in, with the metadata of a stored object. */
export interface BenchmarkRunResource {
  readonly apiVersion: typeof API_VERSION;
  readonly kind: 'BenchmarkRun';
  readonly metadata: StoredMetadata;
  readonly spec: BenchmarkRunSpec;
  readonly status?: z.input<typeof runStatusSchema>;
}
