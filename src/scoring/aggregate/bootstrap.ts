import type { Interval, ScoreIntervals } from '../../api/report-scores.ts';
import type { Dimension } from '../../api/vocabulary.ts';
import { roundScore } from '../python-round.ts';
import { finalComposite } from './final.ts';
import { coveredDimensions, type CountedScenario } from './hierarchy.ts';
import { seededIndex } from './random.ts';
import { percentile } from './statistics.ts';
import { DIMENSION_WEIGHTS } from './weights.ts';

/** Resamples and seed of the paper's intervals (Table 33), and the share of resamples between the bounds. */
export const BOOTSTRAP = { resamples: 10_000, seed: 20_260_511, level: 0.95 } as const;

export interface BootstrapOptions {
  readonly resamples: number;
  readonly seed: number;
}

/** Values of a scenario that a resample adds up, in the order of their columns. */
const VALUES = ['mean', 'capability', 'passRate', 'any', 'strict'] as const;
type Value = (typeof VALUES)[number];
/** A row of the table that is resampled: the weight, each value times the weight, each value alone. */
const WIDTH = 1 + 2 * VALUES.length;
const weightedColumn = (value: Value): number => 1 + VALUES.indexOf(value);
const plainColumn = (value: Value): number => 1 + VALUES.length + VALUES.indexOf(value);

/** One dimension: its scenarios as rows of numbers, because the inner loop runs a million times. */
interface Stratum {
  readonly dimension: Dimension;
  readonly share: number;
  readonly size: number;
  readonly rows: Float64Array;
}

/**
 * Percentile intervals of the headline numbers. The unit that is resampled is the scenario, with replacement and
 * within its dimension, so that no resample loses a dimension; trials of a scenario stay together. The interval
 * tells how much the numbers depend on the choice of scenarios. A dimension of one scenario adds no width.
 *
 * @param k trials a scenario
 */
export function bootstrapIntervals(
  scenarios: readonly CountedScenario[],
  k: number,
  { resamples, seed }: BootstrapOptions = BOOTSTRAP,
): ScoreIntervals {
  const strata = coveredDimensions(scenarios).map(stratumOf);
  const covered = strata.reduce((total, { share }) => total + share, 0) || 1;
  const count = Math.max(1, scenarios.length);
  const samples = () => new Float64Array(resamples);
  const perDimension = strata.map(samples);
  // Weighted values are combined by the dimensions' shares here, and divided by what is covered below.
  const weighted = VALUES.map(samples);
  const plain = VALUES.map(samples);
  const draw = seededIndex(seed);
  const sums = new Float64Array(WIDTH);
  for (let index = 0; index < resamples; index += 1) {
    strata.forEach((stratum, position) => {
      resample(stratum, draw, sums);
      const weight = at(sums, 0);
      VALUES.forEach((value, column) => {
        const mean = weight > 0 ? at(sums, weightedColumn(value)) / weight : 0;
        add(weighted[column], index, mean * stratum.share);
        add(plain[column], index, at(sums, plainColumn(value)));
        if (value === 'mean') add(perDimension[position], index, mean);
      });
    });
  }
  const weightedOf = (value: Value): Float64Array => weighted[VALUES.indexOf(value)] ?? samples();
  const plainOf = (value: Value): Float64Array => plain[VALUES.indexOf(value)] ?? samples();
  // Before any interval is taken: that sorts.
  const final = samples().map((_, index) =>
    finalComposite(
      at(weightedOf('mean'), index),
      rateOf(at(weightedOf('strict'), index) / covered),
      rateOf(at(weightedOf('any'), index) / covered),
      k,
    ),
  );
  const rate = (value: Value) => ({
    weighted: intervalOf(weightedOf(value).map((total) => total / covered)),
    unweighted: intervalOf(plainOf(value).map((total) => total / count)),
  });
  return {
    level: BOOTSTRAP.level,
    resamples,
    seed,
    overall: intervalOf(weightedOf('mean')),
    overall_covered: intervalOf(weightedOf('mean').map((total) => total / covered)),
    capability: intervalOf(weightedOf('capability')),
    pass_at_1: rate('passRate'),
    pass_any: rate('any'),
    strict: rate('strict'),
    dimensions: Object.fromEntries(
      strata.map(({ dimension }, position): [Dimension, Interval] => [
        dimension,
        intervalOf(perDimension[position] ?? samples()),
      ]),
    ),
    final: intervalOf(final),
  };
}

/** Bounds between which `BOOTSTRAP.level` of the samples lie. Sorts them in place. */
export function intervalOf(samples: Float64Array): Interval {
  samples.sort();
  const outside = (1 - BOOTSTRAP.level) * 50;
  return {
    low: roundScore(percentile(samples, outside)),
    high: roundScore(percentile(samples, 100 - outside)),
  };
}

function stratumOf([dimension, members]: readonly [Dimension, readonly CountedScenario[]]): Stratum {
  const rows = members.flatMap((member) => {
    const values = VALUES.map((value) => member[value] ?? 0);
    return [member.weight, ...values.map((value) => value * member.weight), ...values];
  });
  return {
    dimension,
    share: DIMENSION_WEIGHTS[dimension],
    size: members.length,
    rows: Float64Array.from(rows),
  };
}

/** Adds up as many rows as the stratum has, drawn with replacement. */
function resample({ size, rows }: Stratum, draw: (bound: number) => number, sums: Float64Array): void {
  sums.fill(0);
  for (let drawn = 0; drawn < size; drawn += 1) {
    const start = draw(size) * WIDTH;
    for (let column = 0; column < WIDTH; column += 1) add(sums, column, at(rows, start + column));
  }
}

/** A sum of shares may pass 1 by a rounding error, and the root of a negative number is none. */
function rateOf(share: number): number {
  return Math.max(0, Math.min(1, share));
}

function at(array: Float64Array, index: number): number {
  return array[index] ?? 0;
}

function add(array: Float64Array | undefined, index: number, value: number): void {
  if (array !== undefined) array[index] = at(array, index) + value;
}
