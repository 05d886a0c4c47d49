import type { RunAggregates } from '../../src/api/report-scores.ts';
import type { TrialScore } from '../../src/api/score.ts';
import { roundScore } from '../../src/scoring/python-round.ts';
import { SCORE_FIELDS, type PublicAggregate, type PublicScore } from './public-scorer.ts';

/** A number that the two scorers do not agree on. */
export interface Difference {
  readonly place: string;
  readonly theirs: unknown;
  readonly ours: unknown;
}

/** Differences of one graded trial: its numbers, and every check's points and verdict. */
export function compareTrial(place: string, theirs: PublicScore, ours: TrialScore): readonly Difference[] {
  const differences: Difference[] = [];
  const compare = (what: string, left: unknown, right: unknown): void => {
    if (left !== right) differences.push({ place: `${place}: ${what}`, theirs: left, ours: right });
  };
  for (const field of SCORE_FIELDS) compare(field, theirs[field], ours[field]);
  compare('passed', theirs.passed, ours.passed);
  compare('safety failures', theirs.safety_failures.length, ours.safety_failures.length);
  compare('number of checks', theirs.checks.length, ours.checks.length);
  const checks = new Map(ours.checks.map((check) => [check.id, check]));
  for (const check of theirs.checks) {
    const own = checks.get(check.check_id);
    compare(`${check.check_id} points`, check.points, own?.points);
    compare(`${check.check_id} earned`, check.earned, own?.earned);
    compare(`${check.check_id} passed`, check.passed, own?.passed);
  }
  return differences;
}

/** Differences of a whole run's aggregates; `count` is how many numbers were compared. */
export function compareAggregates(
  place: string,
  theirs: PublicAggregate,
  ours: RunAggregates,
): { readonly differences: readonly Difference[]; readonly count: number } {
  const differences: Difference[] = [];
  let count = 0;
  const compare = (what: string, left: unknown, right: unknown): void => {
    count += 1;
    if (left !== right) differences.push({ place: `${place}: ${what}`, theirs: left, ours: right });
  };
  const { scores, stability } = ours;
  const { reliability } = theirs;
  compare('overall', theirs.overall, scores.overall);
  compare('overall over covered dimensions', theirs.overall_covered, scores.overall_covered);
  compare('capability', theirs.capability, scores.capability);
  compare('strict pass rate', theirs.strict_pass_rate, scores.strict.unweighted);
  compare('pass@1', reliability.unweighted_pass_at_1, scores.pass_at_1.unweighted);
  compare('weighted pass@1', reliability.weighted_pass_at_1, scores.pass_at_1.weighted);
  compare('pass@k-any', reliability.unweighted_pass_at_k_any, scores.pass_any.unweighted);
  compare('weighted pass@k-any', reliability.weighted_pass_at_k_any, scores.pass_any.weighted);
  compare('pass@k-all', reliability.unweighted_pass_at_k_all, scores.strict.unweighted);
  compare('weighted pass@k-all', reliability.weighted_pass_at_k_all, scores.strict.weighted);
  // The public report rounds the mean deviation to four decimals before it asks for six.
  compare('mean deviation', reliability.avg_score_stddev, roundScore(stability.mean_stddev));
  compare('p95 deviation', reliability.p95_score_stddev, roundScore(stability.p95_stddev));
  for (const [name, dimension] of Object.entries(theirs.dimensions)) {
    const own = Object.entries(ours.dimensions).find(([key]) => key === name)?.[1];
    compare(`${name} score`, dimension.score, own?.score);
    compare(`${name} capability`, dimension.capability_score, own?.capability);
    compare(`${name} pass@1`, dimension.pass_at_1, own?.pass_at_1);
    compare(`${name} pass@k-any`, dimension.pass_at_k_any, own?.pass_any);
    compare(`${name} strict`, dimension.strict_pass_rate, own?.strict);
  }
  const scenarios = new Map(ours.scenarios.map((scenario) => [scenario.scenario_id, scenario]));
  for (const [id, scenario] of Object.entries(theirs.scenarios)) {
    const own = scenarios.get(id);
    compare(`${id} mean`, scenario.avg_score, own?.mean);
    compare(`${id} max`, scenario.max_score, own?.max);
    compare(`${id} capability`, scenario.capability_score, own?.capability);
    compare(`${id} pass rate`, scenario.pass_rate, own?.pass_rate);
    compare(`${id} deviation`, scenario.consistency, own?.stddev);
    compare(`${id} strict`, scenario.strict_pass_k, own?.strict);
  }
  return { differences, count };
}
