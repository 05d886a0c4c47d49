import type { ScenarioAggregate } from '../../api/report-scores.ts';
import { pythonRound, roundScore } from '../python-round.ts';
import type { ScenarioFacts, TrialRow } from './rows.ts';
import { mean, populationDeviation } from './statistics.ts';
import { scenarioWeight } from './weights.ts';

/**
 * One scenario over its trials.
 *
 * @param rows its started trials, none of them unsupported, by trial number
 * @param declared trials a scenario
 */
export function aggregateScenario(
  facts: ScenarioFacts,
  rows: readonly TrialRow[],
  declared: number,
  noopScore: number | null,
): ScenarioAggregate {
  const graded = rows.map((row) => row.score).filter((score) => score !== null);
  const scores = graded.map((score) => score.score);
  const capabilities = graded.map((score) => score.capability_score);
  const passes: number[] = graded.map((score) => (score.passed ? 1 : 0));
  const passCount = passes.filter((passed) => passed === 1).length;
  const zeros = Array.from({ length: rows.length - graded.length }, () => 0);
  return {
    scenario_id: facts.id,
    dimension: facts.dimension,
    difficulty: facts.difficulty,
    weight: scenarioWeight(facts),
    trials_declared: declared,
    trials_started: rows.length,
    trials_graded: graded.length,
    pass_count: passCount,
    mean: roundScore(mean([...scores, ...zeros])),
    mean_graded: meanOrNull(scores),
    capability: roundScore(mean([...capabilities, ...zeros])),
    capability_graded: meanOrNull(capabilities),
    max: graded.length === 0 ? null : roundScore(Math.max(...scores)),
    stddev: pythonRound(populationDeviation(scores), 6),
    pass_rate: roundScore(mean([...passes, ...zeros])),
    pass_rate_graded: meanOrNull(passes),
    pass_any: passCount > 0,
    strict: graded.length === declared ? passCount === declared : null,
    noop_score: noopScore,
  };
}

function meanOrNull(values: readonly number[]): number | null {
  return values.length === 0 ? null : roundScore(mean(values));
}
