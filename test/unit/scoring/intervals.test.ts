import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ScenarioAggregate } from '../../../src/api/report-scores.ts';
import { DIMENSIONS } from '../../../src/api/vocabulary.ts';
import { bootstrapIntervals } from '../../../src/scoring/aggregate/bootstrap.ts';
import { headlineScores, type CountedScenario } from '../../../src/scoring/aggregate/hierarchy.ts';
import { pairedDelta } from '../../../src/scoring/aggregate/paired-delta.ts';
import { seededIndex } from '../../../src/scoring/aggregate/random.ts';
import { distribution, percentile, populationDeviation } from '../../../src/scoring/aggregate/statistics.ts';

const draw = seededIndex(7);
const SCENARIOS: readonly CountedScenario[] = Array.from({ length: 102 }, (_, index) => ({
  dimension: DIMENSIONS[index % DIMENSIONS.length]!,
  weight: [1, 2, 4, 8][draw(4)]!,
  mean: draw(10_001) / 10_000,
  capability: draw(10_001) / 10_000,
  passRate: [0, 0.3333, 0.6667, 1][draw(4)]!,
  any: draw(2),
  strict: draw(2),
}));

describe('bootstrapIntervals', () => {
  it('contain the numbers they belong to, and are the same for the same seed alone', () => {
    const options = { resamples: 2000, seed: 20_260_511 };
    const intervals = bootstrapIntervals(SCENARIOS, 3, options);
    const scores = headlineScores(SCENARIOS, 3);
    const pairs = [
      [intervals.overall, scores.overall],
      [intervals.capability, scores.capability],
      [intervals.final, scores.final],
      [intervals.strict.weighted, scores.strict.weighted],
      [intervals.pass_any.unweighted, scores.pass_any.unweighted],
      [intervals.dimensions.safety, scores.dimensions.safety],
    ] as const;
    for (const [interval, score] of pairs) {
      expect(interval!.low).toBeLessThan(score!);
      expect(interval!.high).toBeGreaterThan(score!);
    }
    expect(bootstrapIntervals(SCENARIOS, 3, options)).toEqual(intervals);
    expect(bootstrapIntervals(SCENARIOS, 3, { ...options, seed: 1 })).not.toEqual(intervals);
  });

  it('have about the width that the normal approximation of a stratified mean gives', () => {
    const flat = SCENARIOS.map((scenario) => ({ ...scenario, weight: 1 }));
    const { low, high } = bootstrapIntervals(flat, 3, { resamples: 4000, seed: 3 }).dimensions.planning!;
    const means = flat.filter(({ dimension }) => dimension === 'planning').map(({ mean }) => mean);
    const expected = (2 * 1.96 * populationDeviation(means)) / Math.sqrt(means.length);
    expect((high - low) / expected).toBeGreaterThan(0.9);
    expect((high - low) / expected).toBeLessThan(1.1);
  });

  it('have no width where nothing varies', () => {
    const same = SCENARIOS.map((scenario) => ({ ...scenario, mean: 0.5 }));
    expect(bootstrapIntervals(same, 3, { resamples: 50, seed: 1 }).overall).toEqual({ low: 0.5, high: 0.5 });
  });
});

describe('seededIndex', () => {
  it('draws each index about equally often, and nothing else', () => {
    const next = seededIndex(20_260_511);
    const counts = Array.from({ length: 7 }, () => 0);
    for (let count = 0; count < 70_000; count += 1) {
      const index = next(7);
      counts[index] = (counts[index] ?? NaN) + 1;
    }
    expect(counts).toHaveLength(7);
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(500);
  });
});

type Compared = Pick<ScenarioAggregate, 'scenario_id' | 'dimension' | 'weight' | 'mean_graded'>;
const scenario = (
  scenario_id: string,
  mean_graded: number | null,
  weight = 1,
  dimension: Compared['dimension'] = 'safety',
): Compared => ({
  scenario_id,
  dimension,
  weight,
  mean_graded,
});

describe('pairedDelta', () => {
  it('subtracts the first run from the second, scenario by scenario', () => {
    const delta = pairedDelta(
      [scenario('a', 0.5, 3), scenario('b', 0.5), scenario('c', 1), scenario('d', null), scenario('e', 0.1)],
      [scenario('a', 0.9, 3), scenario('b', 0.4), scenario('c', 1), scenario('d', 0.2), scenario('f', 0.1)],
      { resamples: 500, seed: 1 },
    );
    expect(delta.scenarios.map((pair) => [pair.scenario_id, pair.delta])).toEqual([
      ['a', 0.4],
      ['b', -0.1],
      ['c', 0],
    ]);
    expect(delta).toMatchObject({ better: 1, worse: 1, equal: 1, mean: 0.1, weighted: 0.22 });
    expect(delta.unpaired).toEqual({ first: ['d', 'e'], second: ['d', 'f'] });
    expect(delta.mean_interval!.low).toBeGreaterThanOrEqual(-0.1);
    expect(delta.mean_interval!.high).toBeLessThanOrEqual(0.4);
  });

  it('weights dimensions by their shares in common', () => {
    const delta = pairedDelta(
      [scenario('a', 0, 1, 'planning'), scenario('b', 0, 1, 'safety')],
      [scenario('a', 0.7, 1, 'planning'), scenario('b', 0, 1, 'safety')],
      { resamples: 10, seed: 1 },
    );
    expect(delta.weighted).toBe(0.4); // 0.2 * 0.7 / 0.35
  });

  it('of a run with itself is 0, and of exchanged runs the negative', () => {
    const runs = fc.array(
      fc.tuple(fc.integer({ min: 0, max: 10_000 }), fc.integer({ min: 0, max: 10_000 })),
      { minLength: 1, maxLength: 8 },
    );
    fc.assert(
      fc.property(runs, (means) => {
        const first = means.map(([mean], index) => scenario(`s${index}`, mean / 10_000));
        const second = means.map(([, mean], index) => scenario(`s${index}`, mean / 10_000));
        const options = { resamples: 20, seed: 1 };
        expect(pairedDelta(first, first, options)).toMatchObject({
          mean: 0,
          weighted: 0,
          better: 0,
          worse: 0,
        });
        const forth = pairedDelta(first, second, options);
        const back = pairedDelta(second, first, options);
        expect(back.mean! + forth.mean!).toBeCloseTo(0, 10);
        expect([back.better, back.worse]).toEqual([forth.worse, forth.better]);
      }),
      { numRuns: 50 },
    );
  });

  it('says so when nothing can be compared', () => {
    expect(pairedDelta([scenario('a', 1)], [scenario('b', 1)])).toMatchObject({
      scenarios: [],
      mean: null,
      mean_interval: null,
      weighted: null,
    });
  });
});

describe('statistics', () => {
  it('interpolate percentiles linearly', () => {
    expect(percentile([1, 2, 3, 4], 50)).toBe(2.5);
    expect(percentile([0, 10], 95)).toBe(9.5);
    expect(percentile([5], 95)).toBe(5);
    expect(() => percentile([], 50)).toThrow(RangeError);
  });

  it('describe a distribution', () => {
    expect(distribution([3, 1, 2])).toEqual({ min: 1, mean: 2, median: 2, p95: 2.9, max: 3 });
    expect(distribution([])).toBeNull();
  });
});
