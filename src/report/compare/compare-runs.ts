import { InvalidInputError } from '../../api/errors.ts';
import type { Report } from '../../api/report.ts';
import type { Interval, PairedDelta } from '../../api/report-scores.ts';
import { BOOTSTRAP } from '../../scoring/aggregate/bootstrap.ts';
import { gradedView } from '../../scoring/aggregate/hierarchy.ts';
import { pairedDelta } from '../../scoring/aggregate/paired-delta.ts';
import { seededIndex } from '../../scoring/aggregate/random.ts';
import { buildReport, type BuiltReport } from '../build-report.ts';
import { configurationDifferences, type ConfigurationDifference } from './configuration-diff.ts';
import {
  headlineDeltas,
  resamplesFor,
  trialDeltaInterval,
  type HeadlineDelta,
  type ScenarioPair,
} from './paired-bootstrap.ts';

/** One scenario in both runs, second minus first, over graded trials. */
export type ScenarioDelta = PairedDelta['scenarios'][number] & {
  /** Over trials of this scenario; null where a run has fewer than two graded ones. */
  readonly interval: Interval | null;
};

/** What `clawbench compare` prints with `-o json`. */
export interface Comparison {
  readonly schema_version: 1;
  readonly first: ComparedRun;
  readonly second: ComparedRun;
  /** Both runs froze the same suite; else only scenarios that are the same in both are compared. */
  readonly same_suite: boolean;
  /** Sentences a reader must know before quoting a difference. */
  readonly caveats: readonly string[];
  readonly headlines: readonly HeadlineDelta[];
  readonly scenarios: readonly ScenarioDelta[];
  readonly better: number;
  readonly worse: number;
  readonly equal: number;
  /** Mean of the scenarios' deltas, each alike. */
  readonly mean: number | null;
  readonly mean_interval: Interval | null;
  /** Scenarios that are not compared, with the reason. */
  readonly not_compared: readonly { readonly scenario_id: string; readonly reason: string }[];
  readonly differences: readonly ConfigurationDifference[];
  readonly level: number;
  readonly resamples: number;
  readonly seed: number;
}

export interface ComparedRun {
  readonly folder: string;
  readonly name: string;
  readonly complete: boolean;
  readonly row_status: Report['row_status'];
  readonly trials_per_scenario: number;
  readonly suite_digest: string;
}

/**
 * Compares two stored runs scenario by scenario.
 *
 * @param first folder of the run that the other is measured against
 * @throws InvalidInputError when a folder is not one of a run, or no scenario is the same in both
 */
export async function compareRuns(first: string, second: string): Promise<Comparison> {
  const [a, b] = [await buildReport(first), await buildReport(second)];
  const shared = sharedScenarios(a, b);
  const inBoth = ({ scenario_id }: { scenario_id: string }) => shared.same.has(scenario_id);
  const left = a.report.scenarios.filter(inBoth);
  const right = b.report.scenarios.filter(inBoth);
  const resamples = resamplesFor(left.length);
  const paired = pairedDelta(left, right, { resamples, seed: BOOTSTRAP.seed });
  return {
    schema_version: 1,
    first: comparedRun(first, a),
    second: comparedRun(second, b),
    same_suite: a.stored.index.suiteDigest === b.stored.index.suiteDigest,
    caveats: caveatsOf(a, b, shared, paired),
    headlines:
      paired.scenarios.length === 0
        ? []
        : headlineDeltas(
            pairsOf(a, b, paired),
            [a.report.trials_per_scenario, b.report.trials_per_scenario],
            resamples,
          ),
    scenarios: withIntervals(paired, a, b),
    better: paired.better,
    worse: paired.worse,
    equal: paired.equal,
    mean: paired.mean,
    mean_interval: paired.mean_interval,
    not_compared: notCompared(a, b, shared, paired),
    differences: configurationDifferences(
      { spec: a.stored.run.spec, provenance: a.report.provenance },
      { spec: b.stored.run.spec, provenance: b.report.provenance },
    ),
    level: paired.level,
    resamples,
    seed: paired.seed,
  };
}

interface SharedScenarios {
  /** Ids whose scenario and checker are byte for byte the same in both. */
  readonly same: ReadonlySet<string>;
  /** Ids that both have, with other contents. */
  readonly changed: readonly string[];
  readonly onlyFirst: readonly string[];
  readonly onlySecond: readonly string[];
}

function sharedScenarios(a: BuiltReport, b: BuiltReport): SharedScenarios {
  const first = new Map(a.stored.index.scenarios.map(({ id, digest }) => [id, digest]));
  const second = new Map(b.stored.index.scenarios.map(({ id, digest }) => [id, digest]));
  const both = [...first.keys()].filter((id) => second.has(id));
  const same = new Set(both.filter((id) => first.get(id) === second.get(id)));
  if (same.size === 0) {
    throw new InvalidInputError({
      message:
        both.length === 0
          ? 'the runs cannot be compared: they have no scenario in common'
          : `the runs cannot be compared: all ${both.length} scenarios they have in common were changed in between`,
      remedy: 'Compare runs of the same suite, or run the scenarios of one again with the suite of the other',
    });
  }
  return {
    same,
    changed: both.filter((id) => !same.has(id)),
    onlyFirst: [...first.keys()].filter((id) => !second.has(id)),
    onlySecond: [...second.keys()].filter((id) => !first.has(id)),
  };
}

function pairsOf(a: BuiltReport, b: BuiltReport, paired: PairedDelta): ScenarioPair[] {
  const first = new Map(a.report.scenarios.map((one) => [one.scenario_id, one]));
  const second = new Map(b.report.scenarios.map((one) => [one.scenario_id, one]));
  return paired.scenarios.flatMap(({ scenario_id }) => {
    const [before, after] = [first.get(scenario_id), second.get(scenario_id)];
    const [counted] = before === undefined ? [] : gradedView([before]);
    const [other] = after === undefined ? [] : gradedView([after]);
    if (counted === undefined || other === undefined) return [];
    return [{ dimension: counted.dimension, weight: counted.weight, first: counted, second: other }];
  });
}

function withIntervals(paired: PairedDelta, a: BuiltReport, b: BuiltReport): ScenarioDelta[] {
  const first = scoresByScenario(a);
  const second = scoresByScenario(b);
  const draw = seededIndex(BOOTSTRAP.seed);
  return paired.scenarios.map((scenario) => ({
    ...scenario,
    interval: trialDeltaInterval(
      first.get(scenario.scenario_id) ?? [],
      second.get(scenario.scenario_id) ?? [],
      draw,
    ),
  }));
}

function scoresByScenario({ rows }: BuiltReport): Map<string, number[]> {
  const scores = new Map<string, number[]>();
  for (const { scenario_id, score } of rows) {
    if (score === null) continue;
    const known = scores.get(scenario_id) ?? [];
    known.push(score);
    scores.set(scenario_id, known);
  }
  return scores;
}

function comparedRun(folder: string, { report, stored }: BuiltReport): ComparedRun {
  return {
    folder,
    name: report.name,
    complete: report.complete,
    row_status: report.row_status,
    trials_per_scenario: report.trials_per_scenario,
    suite_digest: stored.index.suiteDigest,
  };
}

function caveatsOf(a: BuiltReport, b: BuiltReport, shared: SharedScenarios, paired: PairedDelta): string[] {
  const sides = [
    ['first', a],
    ['second', b],
  ] as const;
  const { scorer_version: scorerA } = a.report.provenance.slice;
  const { scorer_version: scorerB } = b.report.provenance.slice;
  const total = new Set([...a.stored.index.scenarios, ...b.stored.index.scenarios].map(({ id }) => id)).size;
  return [
    ...(a.stored.index.suiteDigest === b.stored.index.suiteDigest
      ? []
      : [
          `The runs have different suites: only ${shared.same.size} of ${total} scenarios are the same in both and are compared.`,
        ]),
    ...sides.flatMap(([side, { report }]) =>
      report.incomplete_reasons.map((reason) => `The ${side} run is not complete: ${reason}.`),
    ),
    ...sides.flatMap(([side, { report }]) =>
      report.diagnostic_reasons.map((reason) => `The ${side} run is diagnostic only: ${reason}.`),
    ),
    ...(scorerA === scorerB ? [] : [`They were scored by different scorers: ${scorerA} and ${scorerB}.`]),
    ...(a.report.trials_per_scenario === b.report.trials_per_scenario
      ? []
      : ['They have different numbers of trials: strict, any and final do not compare.']),
    ...(paired.scenarios.length === 0
      ? ['No scenario was graded in both runs: there is nothing to compare.']
      : []),
  ];
}

function notCompared(
  a: BuiltReport,
  b: BuiltReport,
  shared: SharedScenarios,
  paired: PairedDelta,
): Comparison['not_compared'] {
  const compared = new Set(paired.scenarios.map(({ scenario_id }) => scenario_id));
  const graded = ({ report }: BuiltReport) =>
    new Set(report.scenarios.filter((one) => one.mean_graded !== null).map((one) => one.scenario_id));
  const [gradedFirst, gradedSecond] = [graded(a), graded(b)];
  const reasonFor = (id: string): string => {
    if (gradedFirst.has(id)) return 'the second run graded no trial of it';
    return gradedSecond.has(id) ? 'the first run graded no trial of it' : 'neither run graded a trial of it';
  };
  const because = (ids: Iterable<string>, reason: (id: string) => string) =>
    Array.from(ids, (scenario_id) => ({ scenario_id, reason: reason(scenario_id) }));
  return [
    ...because(shared.changed, () => 'the scenario or its checker was changed in between'),
    ...because(
      [...shared.same].filter((id) => !compared.has(id)),
      reasonFor,
    ),
    ...because(shared.onlyFirst, () => 'only in the first run'),
    ...because(shared.onlySecond, () => 'only in the second run'),
  ];
}
