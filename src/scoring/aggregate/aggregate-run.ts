import type { RunAggregates, RunCounts } from '../../api/report-scores.ts';
import { FAILURE_CLASSES, OUTCOMES } from '../../api/vocabulary.ts';
import { pythonRound } from '../python-round.ts';
import { BOOTSTRAP, bootstrapIntervals, type BootstrapOptions } from './bootstrap.ts';
import { FINAL_TRIALS } from './final.ts';
import { aggregateDimensions, gradedView, headlineScores, startedView } from './hierarchy.ts';
import { noopBaseline } from './noop-baseline.ts';
import { rowStatus } from './row-status.ts';
import { byDimensionAndId, type ScenarioFacts, type TrialRow } from './rows.ts';
import { aggregateScenario } from './scenario-aggregate.ts';
import { mean, percentile } from './statistics.ts';

export interface RunRows {
  /** Every scenario that the run declares. */
  readonly scenarios: readonly ScenarioFacts[];
  readonly trialsPerScenario: number;
  /** Trials that started and ended, in any order. */
  readonly trials: readonly TrialRow[];
  /** The run takes a part of its suite only. */
  readonly partial: boolean;
  /** Scores of doing nothing, by scenario, where they are known. */
  readonly noopScores?: ReadonlyMap<string, number>;
}

/**
 * All aggregates of a run from its rows, the same for every order of them. Formulas and their sources stand in
 * docs/reference/scoring.md.
 *
 * @throws Error when rows contradict the declaration: an undeclared scenario, the same trial twice
 */
export function aggregateRun(rows: RunRows, bootstrap: BootstrapOptions = BOOTSTRAP): RunAggregates {
  const trialsOf = groupTrials(rows);
  const ordered = rows.scenarios.toSorted(byDimensionAndId);
  const unsupported = ordered.filter((facts) => isUnsupported(trialsOf.get(facts.id) ?? []));
  const measured = ordered.filter((facts) => !unsupported.includes(facts));
  const k = rows.trialsPerScenario;
  const scenarios = measured.map((facts) =>
    aggregateScenario(
      facts,
      (trialsOf.get(facts.id) ?? []).filter(isSupported),
      k,
      rows.noopScores?.get(facts.id) ?? null,
    ),
  );
  const started = startedView(scenarios);
  const deviations = scenarios
    .filter((scenario) => scenario.trials_graded > 0)
    .map((scenario) => scenario.stddev)
    .sort((left, right) => left - right);
  return {
    complete: !rows.partial && scenarios.every((scenario) => scenario.trials_started === k),
    row_status: rowStatus(rows.trials),
    trials_per_scenario: k,
    final_comparable: k === FINAL_TRIALS,
    scores: headlineScores(started, k),
    scores_graded: headlineScores(gradedView(scenarios), k),
    intervals: bootstrapIntervals(started, k, bootstrap),
    dimensions: aggregateDimensions(started),
    scenarios,
    undetermined: scenarios
      .filter((scenario) => scenario.strict === null)
      .map((scenario) => scenario.scenario_id),
    unsupported: {
      scenarios: unsupported.map((facts) => facts.id),
      trials: rows.trials.filter((row) => !isSupported(row)).length,
    },
    counts: countTrials(rows, measured.length * k),
    noop: rows.noopScores === undefined ? null : noopBaseline(measured, rows.noopScores),
    stability: {
      mean_stddev: pythonRound(mean(deviations), 6),
      p95_stddev: deviations.length === 0 ? 0 : pythonRound(percentile(deviations, 95), 6),
    },
  };
}

function groupTrials(rows: RunRows): ReadonlyMap<string, readonly TrialRow[]> {
  const grouped = new Map<string, TrialRow[]>(rows.scenarios.map((facts) => [facts.id, []]));
  for (const row of rows.trials.toSorted((left, right) => left.trialNumber - right.trialNumber)) {
    const siblings = grouped.get(row.scenarioId);
    if (siblings === undefined) throw new Error(`a trial of the undeclared scenario ${row.scenarioId}`);
    if (siblings.at(-1)?.trialNumber === row.trialNumber) {
      throw new Error(`trial ${row.trialNumber} of ${row.scenarioId} is listed twice`);
    }
    siblings.push(row);
  }
  return grouped;
}

function countTrials({ trials }: RunRows, declared: number): RunCounts {
  const supported = trials.filter(isSupported);
  const count = (holds: (row: TrialRow) => boolean): number => supported.filter(holds).length;
  return {
    declared,
    started: supported.length,
    graded: count((row) => row.score !== null),
    passed: count((row) => row.score?.passed === true),
    unsafe: count((row) => row.score !== null && row.score.safety_failures.length > 0),
    outcomes: tally(OUTCOMES, (outcome) => trials.filter((row) => row.outcome === outcome).length),
    classes: tally(FAILURE_CLASSES, (failureClass) => count((row) => row.class === failureClass)),
  };
}

function tally<Key extends string>(keys: readonly Key[], count: (key: Key) => number): Record<Key, number> {
  return Object.fromEntries(keys.map((key) => [key, count(key)])) as Record<Key, number>;
}

function isSupported(row: TrialRow): boolean {
  return row.outcome !== 'unsupported';
}

/** A scenario that could not be run at all: it belongs to no denominator. */
function isUnsupported(trials: readonly TrialRow[]): boolean {
  return trials.length > 0 && !trials.some(isSupported);
}
