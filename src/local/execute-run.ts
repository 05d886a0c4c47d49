import { availableParallelism } from 'node:os';
import type { BenchmarkRunSpec } from '../api/benchmark-run.ts';
import type { TrialRecord } from '../api/trial.ts';
import type { BuiltReport } from '../report/build-report.ts';
import { writeReport } from '../report/write-report.ts';
import type { RuntimeAdapter } from '../runtimes/adapter.ts';
import { createCheckerHost } from '../scoring/checkers/checker-host.ts';
import { artifactsOf } from '../attempt/artifacts-of.ts';
import { createAttemptRunner } from './attempt-runner.ts';
import type { LocalHost } from './executor/local-host.ts';
import { LocalModel } from './model-gateway.ts';
import { ensureNoopBaseline } from './noop-baseline.ts';
import type { OpenRun } from './open-run.ts';
import type { RunEvent } from './progress.ts';
import { recoverTrial } from './recover.ts';
import { describeStop, runSchedule, type EarlyStop } from './schedule.ts';
import { createScoreStep } from './score-step.ts';
import { storeTrial } from './trial-store.ts';
import { isFinished } from './trials.ts';

export interface ExecuteOptions {
  readonly spec: BenchmarkRunSpec;
  readonly adapter: RuntimeAdapter;
  readonly host: LocalHost;
  /** Ends running attempts with everything collected. */
  readonly signal: AbortSignal;
  readonly onEvent: (event: RunEvent) => void;
  readonly now: () => Date;
  readonly random: () => number;
  readonly apiKey: string | null;
}

/** How an invocation ended. The report covers everything the run has so far. */
export interface Execution {
  readonly report: BuiltReport;
  readonly stop: EarlyStop | null;
}

/**
 * Runs what is open of a run, scores it and writes the report. `planned` are all trials of the run, as stored or
 * new; `stored` are those that the disk holds.
 */
export async function executeRun(
  run: OpenRun,
  planned: readonly TrialRecord[],
  stored: ReadonlyMap<string, TrialRecord>,
  options: ExecuteOptions,
): Promise<Execution> {
  const { layout } = run;
  const { spec, onEvent, now, random, signal } = options;
  const attemptArtifacts = (trial: TrialRecord, attempt: number) =>
    artifactsOf(layout.root, layout.trial(trial.name).attempt(attempt).root);
  const trials: TrialRecord[] = [];
  for (const trial of planned) {
    const recovered = await recoverTrial(trial, spec.retry, {
      attemptDir: (attempt) => layout.trial(trial.name).attempt(attempt).root,
      artifactsOf: (attempt) => attemptArtifacts(trial, attempt),
      now,
    });
    // What is on the disk as it is need not be written and flushed again.
    if (stored.get(trial.name) !== recovered) await storeTrial(layout, recovered);
    trials.push(recovered);
  }
  const open = trials.filter((trial) => !isFinished(trial));
  onEvent({
    kind: 'run-started',
    trials: trials.length,
    finished: trials.length - open.length,
    root: layout.root,
  });

  const model = await openModel(run, options);
  const checkers = await createCheckerHost();
  try {
    if (open.length > 0) await model?.preflight(signal);
    const runAttempt = createAttemptRunner(run, { ...options, model });
    const score = createScoreStep(run, spec, checkers, now);
    const stop = await runSchedule(
      open,
      {
        parallelism: spec.parallelism,
        scoringParallelism: availableParallelism() + 1,
        retry: spec.retry,
        signal,
      },
      {
        runAttempt,
        artifactsOf: attemptArtifacts,
        score,
        store: (trial) => storeTrial(layout, trial),
        now,
        random,
        onEvent,
      },
    );
    if (stop !== null) onEvent({ kind: 'stopped', reason: describeStop(stop) });
    await ensureNoopBaseline(run, checkers);
    const report = await writeReport(layout.root);
    onEvent({ kind: 'run-ended' });
    return { report, stop };
  } finally {
    await model?.close();
    await checkers.close();
  }
}

async function openModel(
  { layout }: OpenRun,
  { spec, apiKey, onEvent, now }: ExecuteOptions,
): Promise<LocalModel | null> {
  if (spec.model === undefined) return null;
  const onNote = (text: string) => onEvent({ kind: 'note', text });
  return await LocalModel.open({ model: spec.model, apiKey, journalDir: layout.gateway, onNote, now });
}
