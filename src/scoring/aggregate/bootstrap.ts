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

/** Values of one scenario that a resample adds up. */
const COLUMNS = ['mean', 'capability', 'passRate', 'any', 'strict'] as const;
type Column = (typeof COLUMNS)[number];

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
  const strata = coveredDimensions(scenarios).map(([dimension, members]) => ({
    dimension,
    members: members.length,
    columns: flatColumns(members),
  }));
  const samples = {
    overall: new Float64Array(resamples),
    overall_covered: new Float64Array(resamples),
    capability: new Float64Array(resamples),
    final: new Float64Array(resamples),
    weighted: eachColumn(() => new Float64Array(resamples)),
    unweighted: eachColumn(() => new Float64Array(resamples)),
    dimensions: strata.map(() => new Float64Array(resamples)),
  };
  const draw = seededIndex(seed);
  for (let index = 0; index < resamples; index += 1) {
    const total = { weighted: eachColumn(() => 0), unweighted: eachColumn(() => 0), covered: 0 };
    strata.forEach(({ dimension, members, columns }, stratum) => {
      const drawn = drawStratum(members, columns, draw);
      const share = DIMENSION_WEIGHTS[dimension];
      const weight = drawn.weight > 0 ? share / drawn.weight : 0;
      total.covered += share;
      for (const column of COLUMNS) {
        total.weighted[column] += drawn.weighted[column] * weight;
        total.unweighted[column] += drawn.unweighted[column];
      }
      put(samples.dimensions[stratum], index, drawn.weight > 0 ? drawn.weighted.mean / drawn.weight : 0);
    });
    const covered = total.covered > 0 ? total.covered : 1;
    const count = Math.max(1, scenarios.length);
    samples.overall[index] = total.weighted.mean;
    samples.overall_covered[index] = total.weighted.mean / covered;
    samples.capability[index] = total.weighted.capability;
    for (const column of COLUMNS) {
      samples.weighted[column][index] = total.weighted[column] / covered;
      samples.unweighted[column][index] = total.unweighted[column] / count;
    }
    samples.final[index] = finalComposite(
      total.weighted.mean,
      clampedRate(total.weighted.strict / covered),
      clampedRate(total.weighted.any / covered),
      k,
    );
  }
  const rateInterval = (column: Column) => ({
    weighted: intervalOf(samples.weighted[column]),
    unweighted: intervalOf(samples.unweighted[column]),
  });
  return {
    level: BOOTSTRAP.level,
    resamples,
    seed,
    overall: intervalOf(samples.overall),
    overall_covered: intervalOf(samples.overall_covered),
    capability: intervalOf(samples.capability),
    pass_at_1: rateInterval('passRate'),
    pass_any: rateInterval('any'),
    strict: rateInterval('strict'),
    dimensions: Object.fromEntries(
      strata.map(({ dimension }, stratum): [Dimension, Interval] => [
        dimension,
        intervalOf(samples.dimensions[stratum] ?? new Float64Array(1)),
      ]),
    ),
    final: intervalOf(samples.final),
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

/** Numbers of one member: its weight, then each column weighted, then each column as it is. */
const STRIDE = 1 + 2 * COLUMNS.length;

/**
 * Members of a stratum one after the other in one array. Ten thousand resamples of thousands of scenarios are
 * billions of additions: only over plain numbers side by side do they take seconds.
 */
function flatColumns(members: readonly CountedScenario[]): Float64Array {
  const flat = new Float64Array(members.length * STRIDE);
  for (const [index, member] of members.entries()) {
    const values = COLUMNS.map((column) => member[column] ?? 0);
    flat.set([member.weight, ...values.map((value) => value * member.weight), ...values], index * STRIDE);
  }
  return flat;
}

function drawStratum(members: number, columns: Float64Array, draw: (bound: number) => number) {
  const sums = new Float64Array(STRIDE);
  for (let remaining = members; remaining > 0; remaining -= 1) {
    const from = draw(members) * STRIDE;
    for (let offset = 0; offset < STRIDE; offset += 1) {
      sums[offset] = (sums[offset] ?? 0) + (columns[from + offset] ?? 0);
    }
  }
  const [weight = 0] = sums;
  const weighted = eachColumn(() => 0);
  const unweighted = eachColumn(() => 0);
  for (const [index, column] of COLUMNS.entries()) {
    weighted[column] = sums[1 + index] ?? 0;
    unweighted[column] = sums[1 + COLUMNS.length + index] ?? 0;
  }
  return { weight, weighted, unweighted };
}

/** A sum of shares may pass 1 by a rounding error, and the root of a negative number is none. */
function clampedRate(rate: number): number {
  return Math.max(0, Math.min(1, rate));
}

function eachColumn<Value>(make: () => Value): Record<Column, Value> {
  return { mean: make(), capability: make(), passRate: make(), any: make(), strict: make() };
}

function put(array: Float64Array | undefined, index: number, value: number): void {
  if (array !== undefined) array[index] = value;
}
