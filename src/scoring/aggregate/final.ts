import { roundScore } from '../python-round.ts';

/** Trials a scenario for which the composite is defined (paper, Table 4). */
export const FINAL_TRIALS = 3;

/**
 * Final of a run (paper, Table 4): Avg^0.40 * p_all^0.45 * p_any^0.15, where p_all = (Pass^k)^(1/k) and
 * p_any = 1 - (1 - Pass@k)^(1/k) turn the rates of k trials into rates of one.
 *
 * @param overall overall score
 * @param strict weighted rate of scenarios that passed in all k trials
 * @param any weighted rate of scenarios that passed in one of them at least
 * @param k trials a scenario; the value is comparable with published ones only at `FINAL_TRIALS`
 */
export function finalComposite(overall: number, strict: number, any: number, k: number): number {
  return strict ** (0.45 / k) * overall ** 0.4 * (1 - (1 - any) ** (1 / k)) ** 0.15;
}

/** `finalComposite` of the rounded numbers that a report shows, so that a reader can compute it again. */
export function finalScore(overall: number, strict: number, any: number, k: number): number {
  return roundScore(finalComposite(overall, strict, any, k));
}
