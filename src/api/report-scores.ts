import { z } from 'zod';
import { DIFFICULTIES, DIMENSIONS, FAILURE_CLASSES, OUTCOMES, ROW_STATUSES } from './vocabulary.ts';

/** A rate over scenarios: by the benchmark's weights, and each scenario alike. */
const rateSchema = z.object({
  weighted: z.number().describe("By the benchmark's weights."),
  unweighted: z.number().describe('Each scenario alike.'),
});
export type Rate = z.infer<typeof rateSchema>;

/** The headline numbers of a run: `scores` of report.json. All between 0 and 1, with four decimals. */
export const reportScoresSchema = z.object({
  overall: z.number().describe('Score over all dimensions; one that the run does not cover counts as 0.'),
  overall_covered: z
    .number()
    .describe('The same over the dimensions that the run covers: a missing one does not count as 0.'),
  capability: z.number().describe('Overall of the capability scores: before the efficiency penalty.'),
  pass_at_1: rateSchema.describe('Share of trials that passed.'),
  pass_any: rateSchema.describe('Share of scenarios of which any trial passed.'),
  strict: rateSchema.describe('Share of scenarios of which every trial passed.'),
  dimensions: z
    .partialRecord(z.enum(DIMENSIONS), z.number())
    .describe('Score of each dimension that the run covers.'),
  final: z
    .number()
    .describe(
      'Composite of overall, weighted strict and weighted any; comparable only at three trials a scenario.',
    ),
});
export type ReportScores = z.infer<typeof reportScoresSchema>;

/** Bounds of a two-sided interval. */
const intervalSchema = z.object({ low: z.number(), high: z.number() });
export type Interval = z.infer<typeof intervalSchema>;
const rateIntervalSchema = z.object({ weighted: intervalSchema, unweighted: intervalSchema });

/** How sure the headline numbers are: percentile bootstrap over scenarios, within dimensions. */
export const scoreIntervalsSchema = z.object({
  /** Share of resamples within the bounds, 0.95. */
  level: z.number(),
  resamples: z.int(),
  seed: z.int(),
  overall: intervalSchema,
  overall_covered: intervalSchema,
  capability: intervalSchema,
  pass_at_1: rateIntervalSchema,
  pass_any: rateIntervalSchema,
  strict: rateIntervalSchema,
  dimensions: z.partialRecord(z.enum(DIMENSIONS), intervalSchema),
  final: intervalSchema,
});
export type ScoreIntervals = z.infer<typeof scoreIntervalsSchema>;

/** One scenario over its trials. `graded` values leave out trials without a score; the others count them as 0. */
export const scenarioAggregateSchema = z.object({
  scenario_id: z.string(),
  dimension: z.enum(DIMENSIONS),
  difficulty: z.enum(DIFFICULTIES),
  /** Declared weight times the weight of the difficulty. */
  weight: z.number(),
  trials_declared: z.int(),
  trials_started: z.int(),
  trials_graded: z.int(),
  pass_count: z.int(),
  mean: z.number(),
  mean_graded: z.number().nullable(),
  capability: z.number(),
  capability_graded: z.number().nullable(),
  /** Best score; null when nothing was graded. */
  max: z.number().nullable(),
  /** Population standard deviation of the graded scores, six decimals; 0 for one. */
  stddev: z.number(),
  pass_rate: z.number(),
  pass_rate_graded: z.number().nullable(),
  pass_any: z.boolean(),
  /** Every declared trial passed; null (undetermined) unless all of them were graded. */
  strict: z.boolean().nullable(),
  /** What doing nothing earns here; null when no baseline was given. */
  noop_score: z.number().nullable(),
});
export type ScenarioAggregate = z.infer<typeof scenarioAggregateSchema>;

export const dimensionAggregateSchema = z.object({
  scenarios: z.int(),
  score: z.number(),
  capability: z.number(),
  pass_at_1: z.number(),
  pass_any: z.number(),
  strict: z.number(),
});
export type DimensionAggregate = z.infer<typeof dimensionAggregateSchema>;

export const runCountsSchema = z.object({
  /** Scenarios times trials, without the unsupported ones. */
  declared: z.int(),
  started: z.int(),
  graded: z.int(),
  passed: z.int(),
  /** Trials with a safety failure, whatever their outcome. */
  unsafe: z.int(),
  outcomes: z.record(z.enum(OUTCOMES), z.int()),
  /** Trials by class of their failure; those that ended in order are in none. */
  classes: z.record(z.enum(FAILURE_CLASSES), z.int()),
});
export type RunCounts = z.infer<typeof runCountsSchema>;

/** What doing nothing earns in this suite. */
export const noopBaselineSchema = z.object({
  overall: z.number(),
  /** Scenarios where it earns more than 0, the best first. */
  flagged: z.array(z.object({ scenario_id: z.string(), score: z.number() })),
});
export type NoopBaseline = z.infer<typeof noopBaselineSchema>;

/** Everything that is computed from the scores of a run's trials (docs/reference/scoring.md). */
export const runAggregatesSchema = z.object({
  /** False for a partial selection or an unfinished run: such a row belongs on no board. */
  complete: z.boolean(),
  row_status: z.enum(ROW_STATUSES),
  trials_per_scenario: z.int(),
  /** False when `final` was computed from other than three trials a scenario. */
  final_comparable: z.boolean(),
  /** Over all started trials; one without a score counts as 0. */
  scores: reportScoresSchema,
  /** Over the trials that were graded; `strict` over the scenarios that are determined. */
  scores_graded: reportScoresSchema,
  intervals: scoreIntervalsSchema,
  dimensions: z.partialRecord(z.enum(DIMENSIONS), dimensionAggregateSchema),
  /** Scenarios, by dimension and id. */
  scenarios: z.array(scenarioAggregateSchema),
  /** Scenarios of which not all declared trials were graded. */
  undetermined: z.array(z.string()),
  /** Outside all denominators. */
  unsupported: z.object({ scenarios: z.array(z.string()), trials: z.int() }),
  counts: runCountsSchema,
  noop: noopBaselineSchema.nullable(),
  /** Spread of scores between trials of a scenario, over scenarios. */
  stability: z.object({ mean_stddev: z.number(), p95_stddev: z.number() }),
});
export type RunAggregates = z.infer<typeof runAggregatesSchema>;

/** Two runs, scenario by scenario: second minus first. */
export const pairedDeltaSchema = z.object({
  /** Scenarios that both runs graded. */
  scenarios: z.array(
    z.object({
      scenario_id: z.string(),
      dimension: z.enum(DIMENSIONS),
      first: z.number(),
      second: z.number(),
      delta: z.number(),
    }),
  ),
  /** Scenarios that only one run has or graded. */
  unpaired: z.object({ first: z.array(z.string()), second: z.array(z.string()) }),
  better: z.int(),
  worse: z.int(),
  equal: z.int(),
  /** Mean of the deltas, each scenario alike; null without a common scenario. */
  mean: z.number().nullable(),
  mean_interval: intervalSchema.nullable(),
  /** Mean of the deltas by the benchmark's weights, over the dimensions in common. */
  weighted: z.number().nullable(),
  weighted_interval: intervalSchema.nullable(),
  level: z.number(),
  resamples: z.int(),
  seed: z.int(),
});
export type PairedDelta = z.infer<typeof pairedDeltaSchema>;
