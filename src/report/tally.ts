import type { TrialRow } from '../api/report.ts';
import {
  EXECUTION_STATUSES,
  FAILURE_CLASSES,
  KILL_REASONS,
  OUTCOMES,
  type FailureClass,
} from '../api/vocabulary.ts';
import type { StoredTrial } from './read-run.ts';

/** A sum of numbers of which some may be unknown. */
export interface PartialSum {
  readonly sum: number;
  /** How many were added. */
  readonly known: number;
  /** How many nobody reported. */
  readonly unknown: number;
}

/** Trials and attempts counted in one pass; nothing of a trial is kept. */
export class RunTally {
  readonly outcomes = zeroes(OUTCOMES);
  readonly executions = zeroes(EXECUTION_STATUSES);
  /** Class of ended trials. */
  readonly classes = zeroes(FAILURE_CLASSES);
  /** Class of every attempt, those that a later one made good included. */
  readonly attemptClasses = zeroes(FAILURE_CLASSES);
  readonly killReasons = zeroes(KILL_REASONS);
  declared = 0;
  planned = 0;
  started = 0;
  ended = 0;
  graded = 0;
  cancelled = 0;
  attempts = 0;
  retries = 0;
  readonly costScored = new Summing();
  readonly costAll = new Summing();
  readonly tokensScored = new Summing();
  readonly tokensAll = new Summing();
  readonly usageSources = new Set<string>();
  readonly scorerVersions = new Set<string>();
  readonly scoringRevisions = new Set<number>();
  /** Scenarios of which an attempt was asked for by a rerun, by its revision. */
  readonly rerunScenarios = new Map<number, Set<string>>();
  startedAt: string | null = null;
  endedAt: string | null = null;
  readonly problems: string[] = [];

  /** Counts a trial; `row` is null for one that was never planned. */
  add(stored: StoredTrial, row: TrialRow | null): void {
    this.declared += 1;
    this.problems.push(...stored.problems);
    const { record, score } = stored;
    if (record === null || row === null) return;
    this.planned += 1;
    if (record.attempts.length > 0) this.started += 1;
    if (record.phase === 'Cancelled') this.cancelled += 1;
    if (row.outcome !== null) {
      this.ended += 1;
      this.outcomes[row.outcome] += 1;
    }
    if (row.score !== null) this.graded += 1;
    if (row.execution_status !== null) this.executions[row.execution_status] += 1;
    if (row.failure_class !== null) this.classes[row.failure_class] += 1;
    if (row.kill_reason !== null) this.killReasons[row.kill_reason] += 1;
    this.retries += row.retries;
    if (score !== null) {
      this.scorerVersions.add(score.scorerVersion);
      this.scoringRevisions.add(score.revision);
    }
    for (const attempt of record.attempts) {
      this.attempts += 1;
      if (attempt.class !== null) this.attemptClasses[attempt.class] += 1;
      if (attempt.rerunRevision !== null) {
        const scenarios = this.rerunScenarios.get(attempt.rerunRevision) ?? new Set();
        this.rerunScenarios.set(attempt.rerunRevision, scenarios.add(stored.entry.id));
      }
      const usage = stored.usage.get(attempt.number) ?? null;
      if (usage !== null) this.usageSources.add(usage.source);
      this.costAll.add(usage?.costUsd);
      this.tokensAll.add(usage?.totalTokens);
      if (row.score !== null && attempt.number === record.decidedBy) {
        this.costScored.add(usage?.costUsd);
        this.tokensScored.add(usage?.totalTokens);
      }
      this.startedAt = earlier(this.startedAt, attempt.startedAt);
      this.endedAt = later(this.endedAt, attempt.endedAt);
    }
  }

  /** Ended trials that are without a score through no doing of the agent. */
  get unresolvedFailures(): number {
    const ungraded: readonly FailureClass[] = ['provider', 'infrastructure', 'adapter', 'scoring'];
    return ungraded.reduce((sum, one) => sum + this.classes[one], 0);
  }
}

/** Sums what is known and counts what is not. */
export class Summing implements PartialSum {
  sum = 0;
  known = 0;
  unknown = 0;

  add(value: number | null | undefined): void {
    if (value === null || value === undefined) {
      this.unknown += 1;
    } else {
      this.sum += value;
      this.known += 1;
    }
  }
}

function zeroes<Word extends string>(words: readonly Word[]): Record<Word, number> {
  return Object.fromEntries(words.map((word) => [word, 0])) as Record<Word, number>;
}

function earlier(a: string | null, b: string | null): string | null {
  return a === null || (b !== null && b < a) ? b : a;
}

function later(a: string | null, b: string | null): string | null {
  return a === null || (b !== null && b > a) ? b : a;
}
