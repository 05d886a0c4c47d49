import { outcomeCounts } from '../../report/words.ts';
import { wrapped } from '../../report/text-table.ts';
import { visibleLine } from '../../report/visible-text.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { interruptSignal } from '../interrupt.ts';
import { listTrials, type Cluster } from './connect.ts';
import { followRun } from './follow-run.ts';
import { flagsText, type ClusterFlags } from './options.ts';
import { conditionOf, endOf, type RunObject, type TrialObject } from './resources.ts';
import { scoreLines } from './run-tables.ts';
import { shown } from './change-run.ts';

const WIDTH = 80;

/** Follows a run to its end, prints its headline scores and returns the exit code. Ctrl-C ends only the watching. */
export async function watchToEnd(cluster: Cluster, run: RunObject, json: boolean): Promise<ExitCode> {
  const interrupt = interruptSignal('ending the watch; the run goes on in the cluster');
  try {
    const ended = await followRun(cluster, run, {
      stream: process.stderr,
      now: () => new Date(),
      signal: interrupt.signal,
    });
    if (ended === null) {
      console.error(goesOnText(run, cluster.flags));
      return EXIT.INTERRUPTED;
    }
    if (json) console.log(runJson(ended, await listTrials(cluster, ended)));
    else console.log(endText(ended, cluster.flags));
    return exitCodeOf(ended);
  } finally {
    interrupt.release();
  }
}

/** How to watch, suspend and cancel a run that goes on. */
export function goesOnText(run: RunObject, flags: ClusterFlags): string {
  const { name, namespace = '' } = run.metadata;
  const rest = flagsText({ ...flags, namespace });
  return [
    `${shown(run)} goes on in the cluster`,
    `  watch    clawbench status ${name}${rest} --watch`,
    `  suspend  clawbench suspend ${name}${rest}`,
    `  cancel   clawbench cancel ${name}${rest}`,
  ].join('\n');
}

/** What is printed when a run has ended: how, its headline scores, and where to read on. */
export function endText(run: RunObject, flags: ClusterFlags): string {
  const { status, metadata } = run;
  const counts = status?.counts;
  const type = endOf(run) === 'failed' ? 'Failed' : 'Complete';
  const condition = conditionOf(run, type);
  const rest = flagsText({ ...flags, namespace: metadata.namespace ?? '' });
  const cancelled = counts?.byPhase['Cancelled'] ?? 0;
  return [
    `${shown(run)}: ${type}${condition === undefined ? '' : ` (${condition.reason})`}`,
    ...(condition === undefined || condition.message === ''
      ? []
      : wrapped(visibleLine(condition.message), WIDTH)),
    ...(counts === undefined
      ? []
      : wrapped(
          `Trials: ${status?.progress ?? counts.trials} ended. Outcomes: ${outcomeCounts(counts.byOutcome)}.` +
            (cancelled === 0 ? '' : ` ${cancelled} never ran.`),
          WIDTH,
        )),
    ...(status?.scores === undefined ? [] : ['', ...scoreLines(run)]),
    '',
    `trials   clawbench show ${metadata.name}${rest} --failed`,
    `files    clawbench artifacts ${metadata.name}${rest} -o DIR`,
  ].join('\n');
}

/** 1 where trials failed to run, or the run was cut short. */
export function exitCodeOf(run: RunObject): ExitCode {
  const counts = run.status?.counts;
  const failed = (counts?.byOutcome['execution_failure'] ?? 0) > 0;
  const short = (counts?.byPhase['Cancelled'] ?? 0) > 0;
  return endOf(run) === 'failed' || failed || short ? EXIT.EXECUTION_FAILURES : EXIT.DONE;
}

/** The run and its trials as the API server has them, without what only the server needs. */
export function runJson(run: RunObject, trials: readonly TrialObject[]): string {
  return JSON.stringify({ run: plain(run), trials: trials.map(plain) }, null, 2);
}

export function plain(object: RunObject | TrialObject): object {
  const { managedFields: _dropped, ...metadata } = object.metadata as typeof object.metadata & {
    managedFields?: unknown;
  };
  return { ...object, metadata };
}
