import { createHash } from 'node:crypto';
import {
  REPORT_SCHEMA_VERSION,
  UNAVAILABLE,
  type Report,
  type ReportScenario,
  type TrialRow,
} from '../api/report.ts';
import type { RunAggregates, ScenarioAggregate } from '../api/report-scores.ts';
import { aggregateRun } from '../scoring/aggregate/aggregate-run.ts';
import type { TrialRow as ScoredTrial } from '../scoring/aggregate/rows.ts';
import { provenanceOf } from './provenance.ts';
import { openRun, storedTrials, strayTrialFolders, type StoredRun, type StoredTrial } from './read-run.ts';
import { jsonLine, trialRow } from './rows.ts';
import { RunTally, Summing } from './tally.ts';

/** A report and what it was made of. */
export interface BuiltReport {
  readonly stored: StoredRun;
  readonly report: Report;
  /** Rows of all planned trials, in the order of the suite. */
  readonly rows: readonly TrialRow[];
  readonly tally: RunTally;
}

/**
 * Makes a report from a run's stored records alone: no agent, no checker, no clock, no network. Of each trial
 * only its row is kept, so that memory grows by about a kilobyte a trial.
 *
 * @param root folder of the run
 * @throws InvalidInputError when it is not the folder of a run
 */
export async function buildReport(root: string): Promise<BuiltReport> {
  const stored = await openRun(root);
  const tally = new RunTally();
  const rows: TrialRow[] = [];
  const scored: ScoredTrial[] = [];
  const evidence = createHash('sha256');
  for await (const trial of storedTrials(stored)) {
    const row = trialRow(trial);
    tally.add(trial, row);
    if (row === null) continue;
    rows.push(row);
    evidence.update(jsonLine(row));
    const one = scoredTrial(trial, row);
    if (one !== null) scored.push(one);
  }
  for (const name of await strayTrialFolders(stored)) {
    tally.problems.push(`trials/${name}: no declared trial has this name; it is left out`);
  }
  const aggregates = aggregateRun({
    scenarios: stored.index.scenarios,
    trialsPerScenario: stored.spec.trialsPerScenario,
    trials: scored,
    partial: stored.index.partial,
    ...(stored.baseline === null ? {} : { noopScores: noopScores(stored) }),
  });
  return {
    stored,
    rows,
    tally,
    report: assembleReport(stored, aggregates, rows, tally, evidence.digest('hex')),
  };
}

/** A settled trial as the aggregates take it; null while it has no outcome. */
function scoredTrial(trial: StoredTrial, row: TrialRow): ScoredTrial | null {
  if (row.outcome === null || trial.record === null) return null;
  return {
    scenarioId: row.scenario_id,
    trialNumber: row.trial,
    execution: row.execution_status ?? 'error',
    class: row.failure_class,
    outcome: row.outcome,
    score: trial.score?.score ?? null,
    rerun: trial.record.rerunRevision !== null,
  };
}

function assembleReport(
  stored: StoredRun,
  aggregates: RunAggregates,
  rows: readonly TrialRow[],
  tally: RunTally,
  trialsJsonlSha256: string,
): Report {
  const { noop, scenarios, ...rest } = aggregates;
  const reasons = incompleteReasons(stored, aggregates, tally);
  const diagnostic = diagnosticReasons(stored);
  const resources = resourcesByScenario(rows);
  const entries = new Map(stored.index.scenarios.map((entry) => [entry.id, entry]));
  return {
    schema_version: REPORT_SCHEMA_VERSION,
    name: stored.run.name,
    uid: stored.run.uid,
    ...rest,
    complete: aggregates.complete && reasons.length === 0,
    incomplete_reasons: reasons,
    diagnostic_reasons: diagnostic,
    counts: {
      ...aggregates.counts,
      scenarios: stored.index.scenarios.length,
      attempts: tally.attempts,
      retries: tally.retries,
      attempt_classes: tally.attemptClasses,
      kill_reasons: tally.killReasons,
      not_ended: tally.declared - tally.ended,
      cancelled: tally.cancelled,
    },
    denominators: { started: aggregates.counts.started, graded: aggregates.counts.graded },
    baseline: noop === null ? UNAVAILABLE : { ...noop, unmeasured: unmeasured(stored) },
    scenarios: scenarios.flatMap((scenario) => {
      const entry = entries.get(scenario.scenario_id);
      return entry === undefined ? [] : [reportScenario(scenario, entry, resources.get(entry.id))];
    }),
    provenance: provenanceOf({
      stored,
      tally,
      rowStatus: aggregates.row_status,
      diagnosticReasons: [...reasons, ...diagnostic],
      trialsJsonlSha256,
    }),
    problems: tally.problems,
  };
}

function incompleteReasons(stored: StoredRun, aggregates: RunAggregates, tally: RunTally): string[] {
  const notEnded = tally.declared - tally.ended;
  const ungradedCancelled = tally.cancelled > 0 ? `, ${tally.cancelled} of them cancelled` : '';
  return [
    ...(stored.index.partial ? ['the selection takes only a part of the suite'] : []),
    ...(notEnded > 0 ? [`${notEnded} of ${tally.declared} trials have not ended${ungradedCancelled}`] : []),
    ...(aggregates.scenarios.length === 0 ? ['no scenario could be measured'] : []),
  ];
}

function diagnosticReasons({ spec, run }: StoredRun): string[] {
  return [
    ...(spec.exposure === 'diagnostic-only' ? ['the run declares itself diagnostic-only'] : []),
    ...(run.facts.timeoutsOverridden ? ['time limits that the suite declares were overridden'] : []),
    ...(spec.model?.cassette?.mode === 'replay' ? ['model answers were replayed, not measured'] : []),
    ...(run.facts.isolation === 'none' ? ['the agent was not isolated from this machine'] : []),
    ...(run.facts.runtimeId === 'scripted'
      ? ['the scripted runtime plays written answers: the numbers test the suite, not an agent']
      : []),
  ];
}

function noopScores({ baseline }: StoredRun): Map<string, number> {
  const entries = Object.entries(baseline?.scenarios ?? {});
  return new Map(entries.flatMap(([id, score]) => (score === null ? [] : [[id, score]])));
}

function unmeasured({ index, baseline }: StoredRun): string[] {
  return index.scenarios.flatMap(({ id }) => ((baseline?.scenarios[id] ?? null) === null ? [id] : []));
}

interface ScenarioResources {
  readonly outcomes: ReportScenario['outcomes'];
  readonly runtime: Summing;
  readonly tokens: Summing;
  readonly cost: Summing;
}

function resourcesByScenario(rows: readonly TrialRow[]): Map<string, ScenarioResources> {
  const all = new Map<string, ScenarioResources>();
  for (const row of rows) {
    const one = all.get(row.scenario_id) ?? {
      outcomes: {},
      runtime: new Summing(),
      tokens: new Summing(),
      cost: new Summing(),
    };
    all.set(row.scenario_id, one);
    if (row.outcome !== null) one.outcomes[row.outcome] = (one.outcomes[row.outcome] ?? 0) + 1;
    one.runtime.add(row.runtime_ms);
    one.tokens.add(row.tokens);
    one.cost.add(row.cost_usd);
  }
  return all;
}

function reportScenario(
  scenario: ScenarioAggregate,
  entry: StoredRun['index']['scenarios'][number],
  resources: ScenarioResources | undefined,
): ReportScenario {
  return {
    ...scenario,
    name: entry.name,
    signal_source: entry.signalSource,
    surfaces: entry.surfaces,
    pass_threshold: entry.passThreshold,
    outcomes: resources?.outcomes ?? {},
    mean_runtime_ms: meanOf(resources?.runtime),
    mean_tokens: meanOf(resources?.tokens),
    cost_usd: resources === undefined || resources.cost.known === 0 ? null : roundTo(resources.cost.sum, 6),
  };
}

function meanOf(sum: Summing | undefined): number | null {
  return sum === undefined || sum.known === 0 ? null : Math.round(sum.sum / sum.known);
}

function roundTo(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
