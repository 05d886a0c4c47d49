import type { TrialScore } from '../../api/score.ts';
import type { Difficulty, Dimension, ExecutionStatus, FailureClass, Outcome } from '../../api/vocabulary.ts';

/** What aggregates need to know of a scenario. */
export interface ScenarioFacts {
  readonly id: string;
  readonly dimension: Dimension;
  readonly difficulty: Difficulty;
  /** As the suite declares it, before the weight of the difficulty. */
  readonly weight: number;
}

/** One trial that was started and has ended; a trial that never started has no row. */
export interface TrialRow {
  readonly scenarioId: string;
  /** 1-based. */
  readonly trialNumber: number;
  readonly execution: ExecutionStatus;
  readonly class: FailureClass | null;
  readonly outcome: Outcome;
  /** null: the trial ended by provider, infrastructure, adapter or scoring, and nothing was graded. */
  readonly score: Pick<TrialScore, 'score' | 'capability_score' | 'passed' | 'safety_failures'> | null;
  /** The attempt that decided it was asked for by a rerun. */
  readonly rerun: boolean;
}

/** Order of everything that is added up: sums of floating-point numbers depend on it. */
export function byDimensionAndId(left: ScenarioFacts, right: ScenarioFacts): number {
  return compare(left.dimension, right.dimension) || compare(left.id, right.id);
}

/** By code unit, whatever the machine's language. */
export function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
