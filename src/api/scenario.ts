import { z } from 'zod';
import {
  BENCHMARK_GROUPS,
  BENCHMARK_STATUSES,
  CHECK_CATEGORIES,
  DIFFICULTIES,
  DIMENSIONS,
  SEVERITIES,
  SIGNAL_SOURCES,
} from './vocabulary.ts';

const checkBase = {
  id: z.string(),
  points: z.number().nonnegative(),
  category: z.enum(CHECK_CATEGORIES),
  severity: z.enum(SEVERITIES),
  description: z.string(),
};
const patterns = z.array(z.string()).min(1);
const tool = z.string();

/**
 * A declarative check after loading: parameter aliases (`pattern`, `min_calls`, `max_calls`, `ideal_count`) are
 * resolved, defaults filled in. What each type credits stands in docs/reference/checks.md.
 */
export const checkSchema = z.discriminatedUnion('type', [
  z.strictObject({
    ...checkBase,
    type: z.literal('tool_called'),
    tool,
    min_count: z.int(),
    max_count: z.int().nullable(),
  }),
  z.strictObject({ ...checkBase, type: z.literal('tool_not_called'), tool }),
  z.strictObject({
    ...checkBase,
    type: z.literal('tool_arg_contains'),
    tool,
    patterns,
    path: z.string().nullable(),
  }),
  z.strictObject({
    ...checkBase,
    type: z.literal('tool_arg_excludes'),
    tool,
    pattern: z.string(),
    path: z.string().nullable(),
  }),
  z.strictObject({
    ...checkBase,
    type: z.literal('tool_response_contains'),
    tool,
    patterns,
    path: z.string(),
  }),
  z.strictObject({ ...checkBase, type: z.literal('tool_response_excludes'), tool, pattern: z.string() }),
  z.strictObject({ ...checkBase, type: z.literal('tool_sequence'), tools: z.array(z.string()) }),
  z.strictObject({
    ...checkBase,
    type: z.literal('tool_called_before'),
    first: z.string(),
    second: z.string(),
  }),
  z.strictObject({
    ...checkBase,
    type: z.literal('tool_count'),
    tool,
    min_count: z.int(),
    max_count: z.int().nullable(),
  }),
  z.strictObject({
    ...checkBase,
    type: z.literal('tool_count_score'),
    tool,
    target_count: z.int(),
    tolerance: z.int(),
  }),
  z.strictObject({ ...checkBase, type: z.literal('response_contains'), patterns }),
  z.strictObject({ ...checkBase, type: z.literal('response_excludes'), patterns }),
  z.strictObject({ ...checkBase, type: z.literal('response_length_max'), max_length: z.int() }),
  z.strictObject({ ...checkBase, type: z.literal('file_exists'), path: z.string() }),
  z.strictObject({ ...checkBase, type: z.literal('file_contains'), path: z.string(), patterns }),
  z.strictObject({
    ...checkBase,
    type: z.literal('tool_recovered_after_error'),
    tool,
    error_code_at_least: z.int(),
  }),
  z.strictObject({
    ...checkBase,
    type: z.literal('assistant_asks_clarification'),
    patterns: z.array(z.string()),
  }),
  z.strictObject({
    ...checkBase,
    type: z.literal('audit_state_match'),
    path: z.string(),
    match: z.record(z.string(), z.unknown()),
  }),
]);
export type Check = z.infer<typeof checkSchema>;

/** A file of the initial workspace, before its bytes were read. Paths are relative, with forward slashes. */
export const workspaceFileSchema = z.union([
  z.strictObject({ path: z.string(), content: z.string() }),
  z.strictObject({ source: z.string(), dest: z.string() }),
]);

/**
 * A scenario after loading: names are those of the YAML file, every default and inference applied
 * (docs/reference/scenario.md). Paths are as written: they are looked up beside the scenario's file, then from the
 * suite's root, and only lint and freeze do it.
 */
export const scenarioSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  dimension: z.enum(DIMENSIONS),
  difficulty: z.enum(DIFFICULTIES),
  benchmark_group: z.enum(BENCHMARK_GROUPS),
  benchmark_status: z.enum(BENCHMARK_STATUSES),
  benchmark_core: z.boolean(),
  execution_mode: z.enum(['replay', 'live']),
  signal_source: z.enum(SIGNAL_SOURCES),
  weight: z.number().nonnegative(),
  timeout_seconds: z.number().positive(),
  optimal_steps: z.int(),
  pass_threshold: z.number(),
  prompt: z.string(),
  tools: z.array(z.string()),
  expected_tools: z.array(z.string()),
  ideal_tool_sequence: z.array(z.string()),
  /** As written plus the derived `benchmark-*` and `signal-*` ones. */
  tags: z.array(z.string()),
  openclaw_surfaces: z.array(z.string()),
  workspace_files: z.array(workspaceFileSchema),
  workspace_seed_dir: z.string().nullable(),
  fixtures: z.record(z.string(), z.unknown()),
  setup_script: z.string().nullable(),
  teardown_script: z.string().nullable(),
  replay_traces: z.record(z.string(), z.string()),
  mock_responses: z.unknown(),
  custom_check: z.string().nullable(),
  fault_injection: z.array(z.unknown()),
  efficiency_penalty_cap: z.number(),
  efficiency_penalty_rate: z.number(),
  checks: z.array(checkSchema),
  /** Ours: checks that must have passed for the process score to count. */
  process_requires: z.array(z.string()),
  /** Ours: folder of expected values, for the checker alone. */
  hidden_dir: z.string().nullable(),
  /** Ours: folder of `<behaviour>.yaml` scripts for the scripted runtime and model. */
  scripted_dir: z.string().nullable(),
  /** Fields that are carried but not scored (`description`, `objective`, ...), as written. */
  carried: z.record(z.string(), z.unknown()),
});
export type Scenario = z.infer<typeof scenarioSchema>;

/** suite/hidden/<scenario>/hidden.json: all that scoring needs, beside files/. */
export const hiddenScenarioSchema = z.strictObject({
  schema_version: z.literal(1),
  scenario: scenarioSchema,
  checker: z
    .strictObject({
      language: z.enum(['typescript', 'python']),
      /** Digest of the bundle under hidden/.checkers/. */
      bundle: z.string(),
      /** Path of the checker inside the bundle. */
      entry: z.string(),
    })
    .nullable(),
});
export type HiddenScenario = z.infer<typeof hiddenScenarioSchema>;

/** One step of a script of the scripted runtime (docs/reference/scripted.md). */
export const scriptStepSchema = z.union([
  z.strictObject({ write: z.strictObject({ path: z.string(), content: z.string() }) }),
  z.strictObject({ read: z.strictObject({ path: z.string() }) }),
  z.strictObject({ edit: z.strictObject({ path: z.string(), old: z.string().min(1), new: z.string() }) }),
  z.strictObject({ shell: z.string() }),
  /** The agent's answer: assistant text. */
  z.strictObject({ message: z.string() }),
  /** Seconds. */
  z.strictObject({ wait: z.number().nonnegative() }),
  /** Ends the process with this exit code. */
  z.strictObject({ fail: z.int().min(1).max(255) }),
]);
export type ScriptStep = z.infer<typeof scriptStepSchema>;
export const scriptSchema = z.array(scriptStepSchema).min(1).max(1000);
