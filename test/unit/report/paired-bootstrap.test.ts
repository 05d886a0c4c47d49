import { describe, expect, it } from 'vitest';
import {
  headlineDeltas,
  trialDeltaInterval,
  type ScenarioPair,
} from '../../../src/report/compare/paired-bootstrap.ts';
import { seededIndex } from '../../../src/scoring/aggregate/random.ts';

function counted(mean: number, strict: number | null = mean === 1 ? 1 : 0) {
  return {
    dimension: 'planning' as const,
    weight: 1,
    mean,
    capability: mean,
    passRate: mean,
    any: 1,
    strict,
  };
}

function pair(first: number, second: number, more: Partial<ScenarioPair> = {}): ScenarioPair {
  return { dimension: 'planning', weight: 1, first: counted(first), second: counted(second), ...more };
}

const named = (pairs: readonly ScenarioPair[]) =>
  Object.fromEntries(headlineDeltas(pairs, [3, 3], 500).map((one) => [one.name, one]));

describe('headline differences of two runs', () => {
  it('have no width where every scenario differs by the same amount, however hard each is', () => {
    const { overall } = named([pair(0.1, 0.3), pair(0.5, 0.7), pair(0.8, 1)]);
    expect(overall).toMatchObject({ delta: 0.2, interval: { low: 0.2, high: 0.2 } });
  });

  it('weigh dimensions by their shares and scenarios by their weights', () => {
    const { overall } = named([
      pair(0, 1, { weight: 3 }),
      pair(0, 0, { weight: 1 }),
      pair(0, 0, { dimension: 'safety' }),
    ]);
    expect(overall?.delta).toBeCloseTo((0.2 * 0.75) / 0.35, 4);
  });

  it('leave a scenario that one run left undetermined out of the strict rate of both', () => {
    const { strict, overall } = named([pair(1, 1), { ...pair(1, 0), second: counted(0, null) }]);
    expect(strict).toMatchObject({ first: 1, second: 1, delta: 0 });
    expect(overall?.delta).toBe(-0.5);
  });

  it('are the same when computed again', () => {
    const pairs = [pair(0.2, 0.9), pair(0.6, 0.1), pair(1, 0.4)];
    expect(named(pairs)).toEqual(named(pairs));
  });
});

describe('the difference of one scenario', () => {
  it('has an interval that holds the difference of the means', () => {
    const interval = trialDeltaInterval([0, 0.5, 1], [0.5, 1, 1], seededIndex(1));
    expect(interval?.low).toBeLessThan(0.33);
    expect(interval?.high).toBeGreaterThan(0.33);
  });

  it('has none where a run has one trial', () => {
    expect(trialDeltaInterval([1], [0, 1], seededIndex(1))).toBeNull();
  });
});
