import type { NoopBaseline } from '../../api/report-scores.ts';
import { headlineScores } from './hierarchy.ts';
import { byDimensionAndId, compare, type ScenarioFacts } from './rows.ts';
import { scenarioWeight } from './weights.ts';

/**
 * What an agent earns that does nothing: overall score, and the scenarios that pay for it.
 *
 * @param scores score of the empty trace on the untouched workspace, by scenario; one that is absent counts as not
 *   covered
 */
export function noopBaseline(
  scenarios: readonly ScenarioFacts[],
  scores: ReadonlyMap<string, number>,
): NoopBaseline {
  const scored = scenarios.toSorted(byDimensionAndId).flatMap((facts) => {
    const score = scores.get(facts.id);
    return score === undefined ? [] : [{ facts, score }];
  });
  const counted = scored.map(({ facts, score }) => ({
    dimension: facts.dimension,
    weight: scenarioWeight(facts),
    mean: score,
    capability: score,
    passRate: 0,
    any: 0,
    strict: 0,
  }));
  return {
    overall: headlineScores(counted, 1).overall,
    flagged: scored
      .filter(({ score }) => score > 0)
      .map(({ facts, score }) => ({ scenario_id: facts.id, score }))
      .sort((left, right) => right.score - left.score || compare(left.scenario_id, right.scenario_id)),
  };
}
