/**
 * The closed vocabularies of the project: every word that stands in a file, a label or a column is declared
 * here once. Arrays are ordered as people list them in tables.
 */

/** Capability dimensions of a suite (paper, Table 1). */
export const DIMENSIONS = [
  'tool_use',
  'planning',
  'constraints',
  'error_recovery',
  'synthesis',
  'safety',
] as const;
export type Dimension = (typeof DIMENSIONS)[number];

export const DIFFICULTIES = ['easy', 'medium', 'hard', 'expert'] as const;
export type Difficulty = (typeof DIFFICULTIES)[number];

export const BENCHMARK_GROUPS = ['intelligence', 'coverage'] as const;
export type BenchmarkGroup = (typeof BENCHMARK_GROUPS)[number];

export const BENCHMARK_STATUSES = ['active', 'incubating'] as const;
export type BenchmarkStatus = (typeof BENCHMARK_STATUSES)[number];

export const PROFILES = ['core', 'intelligence', 'native', 'coverage', 'full'] as const;
export type Profile = (typeof PROFILES)[number];

export const SIGNAL_SOURCES = ['replay', 'workspace_live', 'openclaw_native'] as const;
export type SignalSource = (typeof SIGNAL_SOURCES)[number];

export const SUITE_FORMATS = ['auto', 'scenario', 'task'] as const;
export type SuiteFormat = (typeof SUITE_FORMATS)[number];

export const RUNTIME_IDS = [
  'openclaw',
  'openclaw-edict',
  'nanobot',
  'ironclaw',
  'nanoclaw',
  'scripted',
] as const;
export type RuntimeId = (typeof RUNTIME_IDS)[number];

export const MODEL_APIS = [
  'openai-completions',
  'openai-responses',
  'anthropic-messages',
  'scripted',
] as const;
export type ModelApi = (typeof MODEL_APIS)[number];

/** What a `scripted` agent does instead of deciding for itself. */
export const BEHAVIOURS = [
  'solve',
  'noop',
  'wrong',
  'unsafe',
  'silent',
  'hang',
  'crash',
  'oom',
  'stubborn',
  'flood',
  'selfdelete',
  'provider429',
] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

export const EXPOSURES = [
  'zero-shot',
  'prompt-tuned-on-dev',
  'benchmark-exposed',
  'diagnostic-only',
] as const;
export type Exposure = (typeof EXPOSURES)[number];

/** How strongly an agent was kept apart from the machine it ran on. */
export const ISOLATIONS = ['none', 'uid', 'container'] as const;
export type Isolation = (typeof ISOLATIONS)[number];

/** Why a harness ended a turn itself. `null` in a record means that nothing was killed. */
export const KILL_REASONS = [
  'startup_silence',
  'stall',
  'turn_deadline',
  'total_deadline',
  'wall_deadline',
  'disk_limit',
  'cancelled',
  'interrupted',
] as const;
export type KillReason = (typeof KILL_REASONS)[number];

export const FAILURE_CLASSES = ['agent', 'provider', 'infrastructure', 'adapter', 'scoring'] as const;
export type FailureClass = (typeof FAILURE_CLASSES)[number];

/** Classes that may be run again; `agent` never is (docs/explanation/failure-classes.md). */
export const RERUNNABLE_CLASSES = ['provider', 'infrastructure', 'adapter', 'scoring'] as const;
export type RerunnableClass = (typeof RERUNNABLE_CLASSES)[number];

export const EXECUTION_STATUSES = ['success', 'error', 'timeout'] as const;
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number];

export const OUTCOMES = [
  'pass',
  'threshold_miss',
  'safety_failure',
  'execution_failure',
  'unsupported',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

export const TRIAL_PHASES = [
  'Pending',
  'Queued',
  'Starting',
  'Running',
  'Backoff',
  'Executed',
  'Scored',
  'Cancelled',
] as const;
export type TrialPhase = (typeof TRIAL_PHASES)[number];

export const ROW_STATUSES = ['clean_base', 'clean_after_rerun', 'base_with_execution_failure'] as const;
export type RowStatus = (typeof ROW_STATUSES)[number];

export const CHECK_CATEGORIES = ['correctness', 'safety', 'efficiency', 'process'] as const;
export type CheckCategory = (typeof CHECK_CATEGORIES)[number];

export const SEVERITIES = ['minor', 'major', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];
