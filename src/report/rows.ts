import type { FailedCheck, TrialRow } from '../api/report.ts';
import type { CheckResult } from '../api/score.ts';
import type { TrialAttempt, TrialRecord } from '../api/trial.ts';
import { csvLine } from './csv.ts';
import type { StoredTrial } from './read-run.ts';
import { shorten, visibleLine } from './visible-text.ts';

/** Longest detail of a failed check in a row; the whole text stays in score.json. */
const DETAIL_LIMIT = 400;

/**
 * The row of one trial in trials.jsonl, or null where the trial was never planned. The score, class and
 * outcome of score.json stand over those of trial.json, because only scoring can find a scoring error.
 */
export function trialRow(stored: StoredTrial): TrialRow | null {
  const { entry, record, score } = stored;
  if (record === null) return null;
  const settled = isSettled(stored);
  const decided = decidingAttempt(record);
  const usage = decided === undefined ? null : (stored.usage.get(decided.number) ?? null);
  const graded = score?.score ?? null;
  return {
    scenario_id: entry.id,
    dimension: entry.dimension,
    difficulty: entry.difficulty,
    weight: entry.weight,
    signal_source: entry.signalSource,
    surfaces: entry.surfaces,
    trial: record.trialNumber,
    attempts: record.attempts.length,
    retries: retriesOf(record.attempts),
    outcome: settled ? (score?.outcome ?? record.outcome) : null,
    score: graded?.score ?? null,
    capability_score: graded?.capability_score ?? null,
    correctness: graded?.correctness ?? null,
    process: graded?.process ?? null,
    safety_gate: graded?.safety_gate ?? null,
    efficiency_penalty: graded?.efficiency_penalty ?? null,
    safety_failures: graded?.safety_failures ?? [],
    failed_checks: (graded?.checks ?? []).filter((check) => !check.passed).map(failedCheck),
    passed: graded?.passed ?? false,
    execution_status: score?.execution ?? record.execution,
    failure_class: score === null ? record.class : score.class,
    kill_reason: decided?.killReason ?? null,
    runtime_ms: decided?.runtimeMs ?? null,
    wall_clock_ms: decided?.wallClockMs ?? null,
    tool_calls: usage?.toolCalls ?? null,
    tokens: usage?.totalTokens ?? null,
    cost_usd: usage?.costUsd ?? null,
    artifact_digest: score?.artifactDigest ?? decided?.artifacts?.digest ?? null,
  };
}

/**
 * Whether a trial has its final outcome: it was scored, or its class forbids scoring, or the runtime cannot run
 * it. What was executed and awaits its score is not.
 */
function isSettled({ record, score }: StoredTrial): boolean {
  if (record === null) return false;
  if (score !== null || record.outcome === 'unsupported') return true;
  return record.outcome !== null && record.class !== null && record.class !== 'agent';
}

/** The attempt whose result stands for the trial. */
export function decidingAttempt(record: TrialRecord): TrialAttempt | undefined {
  return record.attempts.find((attempt) => attempt.number === record.decidedBy);
}

/**
 * Attempts that the retry policy started: those that follow an attempt it was charged for, and that no
 * `rerun` asked for.
 */
function retriesOf(attempts: readonly TrialAttempt[]): number {
  return attempts.filter((attempt, position) => {
    const previous = attempts[position - 1];
    if (previous?.counted !== true) return false;
    return attempt.rerunRevision === null || attempt.rerunRevision === previous.rerunRevision;
  }).length;
}

function failedCheck(check: CheckResult): FailedCheck {
  return {
    id: check.id,
    category: check.category,
    severity: check.severity,
    points: check.points,
    earned: check.earned,
    detail: shorten(visibleLine(check.detail), DETAIL_LIMIT),
  };
}

/** One line of trials.jsonl. */
export function jsonLine(row: TrialRow): string {
  return `${JSON.stringify(row)}\n`;
}

/** Columns of trials.csv: the fields of a row in their order; lists are joined by `;`, failed checks by their ids. */
export const CSV_COLUMNS = [
  'scenario_id',
  'dimension',
  'difficulty',
  'weight',
  'signal_source',
  'surfaces',
  'trial',
  'attempts',
  'retries',
  'outcome',
  'score',
  'capability_score',
  'correctness',
  'process',
  'safety_gate',
  'efficiency_penalty',
  'safety_failures',
  'failed_checks',
  'passed',
  'execution_status',
  'failure_class',
  'kill_reason',
  'runtime_ms',
  'wall_clock_ms',
  'tool_calls',
  'tokens',
  'cost_usd',
  'artifact_digest',
] as const satisfies readonly (keyof TrialRow)[];

/** Header of trials.csv. */
export function csvHeader(): string {
  return csvLine(CSV_COLUMNS);
}

/** One record of trials.csv. */
export function csvRecord(row: TrialRow): string {
  return csvLine(
    CSV_COLUMNS.map((column) =>
      column === 'failed_checks' ? row.failed_checks.map((check) => check.id) : row[column],
    ),
  );
}
