import { z } from 'zod';
import { runAggregatesSchema, runCountsSchema, scenarioAggregateSchema } from './report-scores.ts';
import {
  CHECK_CATEGORIES,
  DIFFICULTIES,
  DIMENSIONS,
  EXECUTION_STATUSES,
  EXPOSURES,
  FAILURE_CLASSES,
  ISOLATIONS,
  KILL_REASONS,
  OUTCOMES,
  ROW_STATUSES,
  SEVERITIES,
  SIGNAL_SOURCES,
} from './vocabulary.ts';

/** Version of report.json, of a line of trials.jsonl, and of noop-baseline.json. */
export const REPORT_SCHEMA_VERSION = 1;

/** A check that did not pass, as a row carries it. */
export const failedCheckSchema = z.strictObject({
  id: z.string(),
  category: z.enum(CHECK_CATEGORIES),
  severity: z.enum(SEVERITIES).nullable(),
  points: z.number(),
  earned: z.number(),
  /** The checker's own words, shortened; they may quote the agent. */
  detail: z.string(),
});
export type FailedCheck = z.infer<typeof failedCheckSchema>;

/** One line of trials.jsonl (docs/reference/report.md). Numbers of a trial that was not graded are null. */
export const trialRowSchema = z.strictObject({
  scenario_id: z.string(),
  dimension: z.enum(DIMENSIONS),
  difficulty: z.enum(DIFFICULTIES),
  weight: z.number(),
  signal_source: z.enum(SIGNAL_SOURCES),
  surfaces: z.array(z.string()),
  /** 1-based number of the trial. */
  trial: z.int().positive(),
  /** Attempts that were started. */
  attempts: z.int().nonnegative(),
  /** Those of them that the retry policy started and was charged for. */
  retries: z.int().nonnegative(),
  /** null: the trial has not ended. */
  outcome: z.enum(OUTCOMES).nullable(),
  score: z.number().nullable(),
  capability_score: z.number().nullable(),
  correctness: z.number().nullable(),
  process: z.number().nullable(),
  safety_gate: z.number().nullable(),
  efficiency_penalty: z.number().nullable(),
  safety_failures: z.array(z.string()),
  failed_checks: z.array(failedCheckSchema),
  passed: z.boolean(),
  execution_status: z.enum(EXECUTION_STATUSES).nullable(),
  failure_class: z.enum(FAILURE_CLASSES).nullable(),
  kill_reason: z.enum(KILL_REASONS).nullable(),
  runtime_ms: z.number().nullable(),
  wall_clock_ms: z.number().nullable(),
  tool_calls: z.number().nullable(),
  tokens: z.number().nullable(),
  cost_usd: z.number().nullable(),
  artifact_digest: z.string().nullable(),
});
export type TrialRow = z.infer<typeof trialRowSchema>;

/**
 * noop-baseline.json: what an agent that does nothing earns in each scenario of the frozen suite. Written by
 * the runner before the report; bound to suite and scorer so that a stale one is not used.
 */
export const noopBaselineSchema = z.object({
  schema_version: z.literal(REPORT_SCHEMA_VERSION),
  suiteDigest: z.string(),
  scorerVersion: z.string(),
  /** Scenario id to trial score, 0..1; null where scoring nothing was not possible. */
  scenarios: z.record(z.string(), z.number().nullable()),
});
export type NoopBaseline = z.infer<typeof noopBaselineSchema>;

/** Stands in provenance for what cannot be known; a field is never absent. */
export const UNAVAILABLE = 'unavailable';

const text = z.string();
const known = <Schema extends z.ZodType>(schema: Schema) => z.union([schema, z.literal(UNAVAILABLE)]);
const digestById = z.record(z.string(), z.string());
const anyMap = z.record(z.string(), z.unknown());

/** What a run's numbers depend on (paper, Tables 3, 16 and 18). Text is `unavailable` where it cannot be known. */
export const provenanceSchema = z.strictObject({
  model: z.strictObject({
    /** `none` where the run has no model. */
    identity: text,
    api: text,
    endpoint: text,
    /** How the endpoint was reached, e.g. through a gateway of ours. */
    route: text,
    access_date: text,
    update_caveat: text,
  }),
  runtime: z.strictObject({
    name: text,
    version: text,
    image_digest: text,
    adapter_version: text,
    operator_version: text,
    selection: text,
    tool_schemas_sha256: text,
    surfaces_offered: known(z.array(text)),
    /** `none`: the prompt is sent byte for byte. */
    prompt_wrapper_sha256: text,
    safety_layer: text,
    isolation: z.enum(ISOLATIONS),
    cleanup_policy: text,
    executor_cpu: text,
    executor_memory: text,
    egress_policy: text,
    host: text,
  }),
  slice: z.strictObject({
    /** Digest of the frozen suite: every scenario's public, hidden and scripted files and checkers. */
    scenario_bundle_sha256: text,
    scenario_sha256: digestById,
    workspace_sha256: digestById,
    /** `none` where a scenario has declarative checks alone. */
    checker_sha256: digestById,
    /** SHA-256 over the distinct checker bundles in order. */
    checker_bundle_sha256: text,
    scorer_version: text,
    selector: anyMap,
    excluded_scenarios: z.array(text),
    row_slice: z.enum(['full', 'holdout', 'diagnostic', 'retired']),
    exposure: z.enum(EXPOSURES),
  }),
  sampling: z.strictObject({
    trials_per_scenario: z.int(),
    decoding: known(anyMap),
    seed: known(z.union([z.number(), text])),
    reasoning_mode: text,
    parallelism: z.int(),
    live_retries: z.int(),
    replay: z.enum(['live', 'replayed', 'scripted']),
  }),
  policy: z.strictObject({
    timeouts: anyMap,
    timeouts_overridden: z.boolean(),
    retry: anyMap,
  }),
  execution: z.strictObject({
    row_status: z.enum(ROW_STATUSES),
    rerun_reasons: z.array(
      z.strictObject({ revision: z.int(), at: text, classes: z.array(text), scenarios: z.array(text) }),
    ),
    failures_by_class: z.record(z.string(), z.int()),
    started_at: text,
    ended_at: text,
  }),
  resources: z.strictObject({
    tokens_scored: known(z.number()),
    tokens_all: known(z.number()),
    cost_scored_usd: known(z.number()),
    cost_all_usd: known(z.number()),
    cost_source: text,
    zero_cost_policy: text,
    attempts_without_cost: z.int(),
  }),
  evidence: z.strictObject({
    /** SHA-256 of trials.jsonl, from which every number of the report follows. */
    source_report_sha256: text,
    noop_baseline_sha256: text,
  }),
});
export type Provenance = z.infer<typeof provenanceSchema>;

/** A scenario in report.json: its aggregate and what a reader needs to place it. */
export const reportScenarioSchema = scenarioAggregateSchema.extend({
  name: text,
  signal_source: z.enum(SIGNAL_SOURCES),
  surfaces: z.array(text),
  pass_threshold: z.number(),
  /** Settled trials by outcome; an outcome that did not occur is absent. */
  outcomes: z.partialRecord(z.enum(OUTCOMES), z.int()),
  /** Mean over the trials of which it is known; null where it is known of none. */
  mean_runtime_ms: z.number().nullable(),
  mean_tokens: z.number().nullable(),
  /** Sum over the attempts that stand for their trials; null where nobody reported any. */
  cost_usd: z.number().nullable(),
});
export type ReportScenario = z.infer<typeof reportScenarioSchema>;

/** report.json (docs/reference/report.md). The same bytes for the same records: it holds no time of its making. */
export const reportSchema = runAggregatesSchema.omit({ noop: true }).extend({
  schema_version: z.literal(REPORT_SCHEMA_VERSION),
  name: text,
  uid: text,
  /** Why `complete` is false, in sentences; empty where it is true. */
  incomplete_reasons: z.array(text),
  /** Why no board may take the row even when it is complete; empty where one may. */
  diagnostic_reasons: z.array(text),
  counts: runCountsSchema.extend({
    scenarios: z.int(),
    /** Attempts of all trials, and those that the retry policy started. */
    attempts: z.int(),
    retries: z.int(),
    /** Attempts by class, those that a later attempt made good included. */
    attempt_classes: z.record(z.enum(FAILURE_CLASSES), z.int()),
    /** Attempts that stand, by the reason the harness ended them for. */
    kill_reasons: z.record(z.enum(KILL_REASONS), z.int()),
    /** Trials without an outcome yet, cancelled ones included. */
    not_ended: z.int(),
    cancelled: z.int(),
  }),
  /** Both denominators of every mean: `scores` is over `started`, `scores_graded` over `graded`. */
  denominators: z.strictObject({ started: z.int(), graded: z.int() }),
  /** What doing nothing earns; `unavailable` where it was not measured. */
  baseline: z.union([
    z.strictObject({
      overall: z.number(),
      flagged: z.array(z.strictObject({ scenario_id: text, score: z.number() })),
      /** Scenarios of which it could not be measured. */
      unmeasured: z.array(text),
    }),
    z.literal(UNAVAILABLE),
  ]),
  scenarios: z.array(reportScenarioSchema),
  provenance: provenanceSchema,
  /** Records that could not be used, in sentences. */
  problems: z.array(text),
});
export type Report = z.infer<typeof reportSchema>;
