import type { Interval } from '../../api/report-scores.ts';
import type { Dimension } from '../../api/vocabulary.ts';
import { BOOTSTRAP, intervalOf } from '../../scoring/aggregate/bootstrap.ts';
import { finalComposite } from '../../scoring/aggregate/final.ts';
import { coveredDimensions, type CountedScenario } from '../../scoring/aggregate/hierarchy.ts';
import { seededIndex } from '../../scoring/aggregate/random.ts';
import { DIMENSION_WEIGHTS } from '../../scoring/aggregate/weights.ts';
import { roundScore } from '../../scoring/python-round.ts';

/** A scenario that both runs graded. Weights are the first run's. */
export interface ScenarioPair {
  readonly dimension: Dimension;
  readonly weight: number;
  readonly first: CountedScenario;
  readonly second: CountedScenario;
}

/** A headline number of two runs over the scenarios they have in common. */
export interface HeadlineDelta {
  readonly name: 'overall' | 'capability' | 'pass_at_1' | 'pass_any' | 'strict' | 'final';
  readonly first: number;
  readonly second: number;
  readonly delta: number;
  readonly interval: Interval;
}

/** Scenarios beyond which fewer resamples do: the interval of a mean of thousands needs no more. */
const MANY_SCENARIOS = 500;

/** Resamples for a number of scenarios. */
export function resamplesFor(scenarios: number): number {
  return scenarios > MANY_SCENARIOS ? BOOTSTRAP.resamples / 5 : BOOTSTRAP.resamples;
}

/**
 * Headline numbers, second minus first, with percentile intervals. A resample draws scenarios with replacement
 * within each dimension, the same ones for both runs: what makes a scenario hard for both cancels out.
 *
 * @param trials trials a scenario of the first and of the second run, for `final`
 */
export function headlineDeltas(
  pairs: readonly ScenarioPair[],
  trials: readonly [number, number],
  resamples = resamplesFor(pairs.length),
): HeadlineDelta[] {
  const strata = coveredDimensions(pairs).map(([dimension, members]) => ({
    share: DIMENSION_WEIGHTS[dimension],
    values: members.map((pair) => [valuesOf(pair.first, pair), valuesOf(pair.second, pair)] as const),
  }));
  const firstValues = numbersOf(
    strata.map(({ share, values }) => ({ share, drawn: values.map(([a]) => a) })),
    trials[0],
  );
  const secondValues = numbersOf(
    strata.map(({ share, values }) => ({ share, drawn: values.map(([, b]) => b) })),
    trials[1],
  );
  const samples = NAMES.map(() => new Float64Array(resamples));
  const draw = seededIndex(BOOTSTRAP.seed);
  for (let index = 0; index < resamples; index += 1) {
    const first: Drawn[] = [];
    const second: Drawn[] = [];
    for (const { share, values } of strata) {
      const pairsDrawn = values.map((_, __, all) => all[draw(all.length)] ?? EMPTY_PAIR);
      first.push({ share, drawn: pairsDrawn.map(([a]) => a) });
      second.push({ share, drawn: pairsDrawn.map(([, b]) => b) });
    }
    const before = numbersOf(first, trials[0]);
    const after = numbersOf(second, trials[1]);
    for (const [column, sample] of samples.entries()) {
      sample[index] = (after[column] ?? 0) - (before[column] ?? 0);
    }
  }
  return NAMES.map((name, column) => {
    const first = roundScore(firstValues[column] ?? 0);
    const second = roundScore(secondValues[column] ?? 0);
    return {
      name,
      first,
      second,
      delta: roundScore(second - first),
      interval: intervalOf(samples[column] ?? new Float64Array(1)),
    };
  });
}

/**
 * Interval of the difference of two means of trials of one scenario, by drawing trials of each run with
 * replacement. null where a run has fewer than two trials: one trial says nothing of its spread.
 */
export function trialDeltaInterval(
  first: readonly number[],
  second: readonly number[],
  draw: (bound: number) => number,
  resamples = 1000,
): Interval | null {
  if (first.length < 2 || second.length < 2) return null;
  const meanOfDraws = (scores: readonly number[]) =>
    scores.reduce((sum) => sum + (scores[draw(scores.length)] ?? 0), 0) / scores.length;
  const samples = new Float64Array(resamples);
  for (let i = 0; i < resamples; i += 1) samples[i] = meanOfDraws(second) - meanOfDraws(first);
  return intervalOf(samples);
}

const NAMES = ['overall', 'capability', 'pass_at_1', 'pass_any', 'strict', 'final'] as const;

/** Weight, then mean, capability, pass rate, any, and strict with the weight it counts with. */
type Values = readonly [number, number, number, number, number, number, number];
const EMPTY_PAIR: readonly [Values, Values] = [
  [0, 0, 0, 0, 0, 0, 0],
  [0, 0, 0, 0, 0, 0, 0],
];

interface Drawn {
  readonly share: number;
  readonly drawn: readonly Values[];
}

function valuesOf(scenario: CountedScenario, pair: ScenarioPair): Values {
  const { mean, capability, passRate, any } = scenario;
  // A scenario that is undetermined in either run says nothing about the difference of the strict rates.
  const determined = pair.first.strict !== null && pair.second.strict !== null;
  return [pair.weight, mean, capability, passRate, any, scenario.strict ?? 0, determined ? pair.weight : 0];
}

/** The headline numbers over the covered dimensions, in the order of `NAMES`. */
function numbersOf(strata: readonly Drawn[], trials: number): number[] {
  const totals = [0, 0, 0, 0];
  let covered = 0;
  let strict = 0;
  let strictCovered = 0;
  for (const { share, drawn } of strata) {
    let weight = 0;
    let strictWeight = 0;
    let strictSum = 0;
    const sums = [0, 0, 0, 0];
    for (const [w, mean, capability, passRate, any, strictValue, determined] of drawn) {
      weight += w;
      sums[0] = (sums[0] ?? 0) + w * mean;
      sums[1] = (sums[1] ?? 0) + w * capability;
      sums[2] = (sums[2] ?? 0) + w * passRate;
      sums[3] = (sums[3] ?? 0) + w * any;
      strictWeight += determined;
      strictSum += determined * strictValue;
    }
    if (weight > 0) {
      covered += share;
      for (let i = 0; i < 4; i += 1) totals[i] = (totals[i] ?? 0) + (share * (sums[i] ?? 0)) / weight;
    }
    if (strictWeight > 0) {
      strictCovered += share;
      strict += (share * strictSum) / strictWeight;
    }
  }
  const [overall = 0, capability = 0, passRate = 0, any = 0] = totals.map((t) =>
    covered > 0 ? t / covered : 0,
  );
  const strictRate = strictCovered > 0 ? strict / strictCovered : 0;
  const final = finalComposite(clamp(overall), clamp(strictRate), clamp(any), trials);
  return [overall, capability, passRate, any, strictRate, final];
}

/** A sum of shares may pass 1 by a rounding error, and the root of a negative number is none. */
function clamp(rate: number): number {
  return Math.max(0, Math.min(1, rate));
}
