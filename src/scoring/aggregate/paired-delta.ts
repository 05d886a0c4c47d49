import type { PairedDelta, ScenarioAggregate } from '../../api/report-scores.ts';
import { roundScore } from '../python-round.ts';
import { BOOTSTRAP, intervalOf, type BootstrapOptions } from './bootstrap.ts';
import { coveredDimensions } from './hierarchy.ts';
import { seededIndex } from './random.ts';
import { compare } from './rows.ts';
import { mean } from './statistics.ts';
import { DIMENSION_WEIGHTS } from './weights.ts';

type Compared = Pick<ScenarioAggregate, 'scenario_id' | 'dimension' | 'weight' | 'mean_graded'>;

interface Pair {
  readonly dimension: ScenarioAggregate['dimension'];
  readonly weight: number;
  readonly delta: number;
}

/**
 * Compares two runs scenario by scenario, second minus first: means over graded trials of the scenarios that both
 * graded, so that a failure of the machine is no difference between agents. Weights are the first run's. The
 * intervals are percentile intervals of a bootstrap over scenarios within dimensions.
 */
export function pairedDelta(
  first: readonly Compared[],
  second: readonly Compared[],
  { resamples, seed }: BootstrapOptions = BOOTSTRAP,
): PairedDelta {
  const others = new Map(second.map((scenario) => [scenario.scenario_id, scenario.mean_graded]));
  const pairs = first
    .toSorted((left, right) => compare(left.scenario_id, right.scenario_id))
    .flatMap((scenario) => {
      const other = others.get(scenario.scenario_id) ?? null;
      if (scenario.mean_graded === null || other === null) return [];
      const delta = roundScore(other - scenario.mean_graded);
      return [{ ...scenario, first: scenario.mean_graded, second: other, delta }];
    });
  const paired = new Set(pairs.map((pair) => pair.scenario_id));
  const intervals = pairs.length === 0 ? undefined : deltaIntervals(pairs, resamples, seed);
  return {
    scenarios: pairs.map(({ scenario_id, dimension, first: before, second: after, delta }) => ({
      scenario_id,
      dimension,
      first: before,
      second: after,
      delta,
    })),
    unpaired: { first: unpaired(first, paired), second: unpaired(second, paired) },
    better: pairs.filter((pair) => pair.delta > 0).length,
    worse: pairs.filter((pair) => pair.delta < 0).length,
    equal: pairs.filter((pair) => pair.delta === 0).length,
    mean: pairs.length === 0 ? null : roundScore(mean(pairs.map((pair) => pair.delta))),
    mean_interval: intervals?.mean ?? null,
    weighted: pairs.length === 0 ? null : roundScore(weightedDelta(pairs)),
    weighted_interval: intervals?.weighted ?? null,
    level: BOOTSTRAP.level,
    resamples,
    seed,
  };
}

function unpaired(scenarios: readonly Compared[], paired: ReadonlySet<string>): string[] {
  return scenarios
    .map((scenario) => scenario.scenario_id)
    .filter((id) => !paired.has(id))
    .sort(compare);
}

function deltaIntervals(pairs: readonly Pair[], resamples: number, seed: number) {
  const strata = coveredDimensions(pairs).map(([, members]) => members);
  const draw = seededIndex(seed);
  const means = new Float64Array(resamples);
  const weighted = new Float64Array(resamples);
  for (let index = 0; index < resamples; index += 1) {
    const resample = strata.map((members) => members.flatMap(() => members[draw(members.length)] ?? []));
    means[index] = mean(resample.flatMap((members) => members.map((pair) => pair.delta)));
    weighted[index] = weightedDelta(resample.flat());
  }
  return { mean: intervalOf(means), weighted: intervalOf(weighted) };
}

function weightedDelta(pairs: readonly Pair[]): number {
  let total = 0;
  let covered = 0;
  for (const [dimension, members] of coveredDimensions(pairs)) {
    const weight = members.reduce((sum, pair) => sum + pair.weight, 0);
    if (weight <= 0) continue;
    const share = DIMENSION_WEIGHTS[dimension];
    total += (share * members.reduce((sum, pair) => sum + pair.delta * pair.weight, 0)) / weight;
    covered += share;
  }
  return covered > 0 ? total / covered : 0;
}
