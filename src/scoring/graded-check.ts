import type { CheckResult } from '../api/score.ts';

/** A check or checkpoint as it enters the formula: `earned` and `points` as they are, rounded only when stored. */
export type GradedCheck = Readonly<CheckResult>;
