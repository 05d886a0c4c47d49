import { ENV } from '../api/pod-contract.ts';
import type { RunWorld, FinishedRun } from '../local/run-local.ts';
import { terminalReport } from '../report/terminal.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { interruptSignal } from './interrupt.ts';
import { takeSecret } from './take-secret.ts';
import { createProgress } from './terminal-progress.ts';

/** What a person at a terminal, or a log, sees and does while a run goes on. */
export interface RunWatch {
  readonly world: RunWorld;
  /** Ends the progress line, so that results start on a line of their own. */
  readonly endProgress: () => void;
}

/** Runs `work` with progress on standard error and Ctrl-C as an orderly end. */
export async function watchRun(work: (watch: RunWatch) => Promise<void>): Promise<void> {
  const progress = createProgress(process.stderr, Date.now);
  const interrupt = interruptSignal();
  try {
    await work({
      world: {
        signal: interrupt.signal,
        onEvent: progress.event,
        now: () => new Date(),
        random: Math.random,
        apiKey: takeSecret(ENV.API_KEY),
      },
      endProgress: progress.close,
    });
  } finally {
    progress.close();
    interrupt.release();
  }
}

/** Prints the report of a run and sets the exit code. */
export function finishRun({ report, stop }: FinishedRun, json: boolean, watch: RunWatch): void {
  watch.endProgress();
  const { layout } = report.stored;
  console.log(
    json
      ? JSON.stringify(report.report, null, 2)
      : terminalReport(report.report, report.rows, layout).trimEnd(),
  );
  process.exitCode = exitCodeOf({ report, stop });
}

function exitCodeOf({ report, stop }: Pick<FinishedRun, 'report' | 'stop'>): ExitCode {
  if (stop?.kind === 'interrupted') return EXIT.INTERRUPTED;
  const failed = report.rows.some((row) => row.outcome === 'execution_failure');
  return stop !== null || failed ? EXIT.EXECUTION_FAILURES : EXIT.DONE;
}
