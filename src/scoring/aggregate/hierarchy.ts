import type { DimensionAggregate, Rate, ReportScores, ScenarioAggregate } from '../../api/report-scores.ts';
import { DIMENSIONS, type Dimension } from '../../api/vocabulary.ts';
import { roundScore } from '../python-round.ts';
import { finalScore } from './final.ts';
import { compare } from './rows.ts';
import { mean, sum } from './statistics.ts';
import { DIMENSION_WEIGHTS } from './weights.ts';

/** A scenario as one view of a run counts it. */
export interface CountedScenario {
  readonly dimension: Dimension;
  /** Weight within the dimension. */
  readonly weight: number;
  readonly mean: number;
  readonly capability: number;
  readonly passRate: number;
  readonly any: number;
  /** null: undetermined, left out of the strict rates. */
  readonly strict: number | null;
}

/** Every started trial counts, one without a score as 0; an undetermined scenario is not strictly passed. */
export function startedView(scenarios: readonly ScenarioAggregate[]): readonly CountedScenario[] {
  return scenarios
    .filter((scenario) => scenario.trials_started > 0)
    .map((scenario) => ({
      dimension: scenario.dimension,
      weight: scenario.weight,
      mean: scenario.mean,
      capability: scenario.capability,
      passRate: scenario.pass_rate,
      any: scenario.pass_any ? 1 : 0,
      strict: scenario.strict === true ? 1 : 0,
    }));
}

/** Only trials that were graded count, and only scenarios that have one. */
export function gradedView(scenarios: readonly ScenarioAggregate[]): readonly CountedScenario[] {
  return scenarios.flatMap((scenario) => {
    const { mean_graded, capability_graded, pass_rate_graded, strict } = scenario;
    if (mean_graded === null || capability_graded === null || pass_rate_graded === null) return [];
    return [
      {
        dimension: scenario.dimension,
        weight: scenario.weight,
        mean: mean_graded,
        capability: capability_graded,
        passRate: pass_rate_graded,
        any: scenario.pass_any ? 1 : 0,
        strict: strict === null ? null : Number(strict),
      },
    ];
  });
}

/** Dimensions in the order in which they are added up. */
const ADDITION_ORDER: readonly Dimension[] = DIMENSIONS.toSorted(compare);

/** Dimensions that have a scenario, with their scenarios, in the order of addition. */
export function coveredDimensions<Counted extends { readonly dimension: Dimension }>(
  scenarios: readonly Counted[],
): readonly (readonly [Dimension, readonly Counted[]])[] {
  return ADDITION_ORDER.map(
    (dimension) => [dimension, scenarios.filter((scenario) => scenario.dimension === dimension)] as const,
  ).filter(([, members]) => members.length > 0);
}

/** Scores and rates of each covered dimension. The score is weighted, the rates count each scenario alike. */
export function aggregateDimensions(
  scenarios: readonly CountedScenario[],
): Partial<Record<Dimension, DimensionAggregate>> {
  return Object.fromEntries(
    coveredDimensions(scenarios).map(([dimension, members]) => [
      dimension,
      {
        scenarios: members.length,
        score: roundScore(weightedMean(members, (member) => member.mean)),
        capability: roundScore(weightedMean(members, (member) => member.capability)),
        pass_at_1: roundScore(mean(members.map((member) => member.passRate))),
        pass_any: roundScore(mean(members.map((member) => member.any))),
        strict: roundScore(mean(determined(members).map((member) => member.strict))),
      } satisfies DimensionAggregate,
    ]),
  );
}

/**
 * The headline numbers of one view (paper, section 3.5). Every level is rounded before the next adds it up: the
 * mean of a scenario, then that of a dimension, then the whole.
 *
 * @param k trials a scenario
 */
export function headlineScores(scenarios: readonly CountedScenario[], k: number): ReportScores {
  const dimensions = aggregateDimensions(scenarios);
  const covered = coveredDimensions(scenarios).map(([dimension]) => dimension);
  const combine = (of: (aggregate: DimensionAggregate) => number): number =>
    sum(
      covered.map((dimension) => {
        const aggregate = dimensions[dimension];
        return aggregate === undefined ? 0 : of(aggregate) * DIMENSION_WEIGHTS[dimension];
      }),
    );
  const overall = combine((aggregate) => aggregate.score);
  const coveredWeight = sum(covered.map((dimension) => DIMENSION_WEIGHTS[dimension]));
  const strict = rate(determined(scenarios), (scenario) => scenario.strict);
  const any = rate(scenarios, (scenario) => scenario.any);
  return {
    overall: roundScore(overall),
    overall_covered: roundScore(coveredWeight > 0 ? overall / coveredWeight : 0),
    capability: roundScore(combine((aggregate) => aggregate.capability)),
    pass_at_1: rate(scenarios, (scenario) => scenario.passRate),
    pass_any: any,
    strict,
    dimensions: Object.fromEntries(
      Object.entries(dimensions).map(([dimension, aggregate]) => [dimension, aggregate.score]),
    ),
    final: finalScore(roundScore(overall), strict.weighted, any.weighted, k),
  };
}

/**
 * A rate over scenarios. Weighted: each scenario counts with its dimension's weight times its share within the
 * dimension, renormalised over what is covered.
 */
function rate<Counted extends CountedScenario>(
  scenarios: readonly Counted[],
  of: (scenario: Counted) => number,
): Rate {
  const weighted = coveredDimensions(scenarios).flatMap(([dimension, members]) => {
    const total = sum(members.map((member) => member.weight));
    return members.map((member) => ({
      value: of(member),
      weight: total > 0 ? DIMENSION_WEIGHTS[dimension] * (member.weight / total) : 0,
    }));
  });
  const total = sum(weighted.map(({ weight }) => weight));
  return {
    weighted: roundScore(sum(weighted.map(({ value, weight }) => value * (total > 0 ? weight / total : 0)))),
    unweighted: roundScore(mean(scenarios.map(of))),
  };
}

function weightedMean<Counted extends CountedScenario>(
  members: readonly Counted[],
  of: (member: Counted) => number,
): number {
  const total = sum(members.map((member) => member.weight));
  return total > 0 ? sum(members.map((member) => of(member) * member.weight)) / total : 0;
}

function determined(
  scenarios: readonly CountedScenario[],
): readonly (CountedScenario & { strict: number })[] {
  return scenarios.flatMap((scenario) =>
    scenario.strict === null ? [] : [{ ...scenario, strict: scenario.strict }],
  );
}
