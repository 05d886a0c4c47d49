import type { Command } from 'commander';
import { runHarness } from '../../pods/harness/run-harness.ts';
import { EXIT } from '../exit-codes.ts';
import { shareWithVolumeGroup } from '../volume-umask.ts';

/** `clawbench harness`: one attempt, inside its pod (docs/reference/pods.md). */
export function registerHarnessCommand(program: Command): void {
  program
    .command('harness', { hidden: true })
    .description('inside a trial pod: run one attempt')
    .action(async () => {
      shareWithVolumeGroup();
      const sigterm = new AbortController();
      process.on('SIGTERM', () => sigterm.abort());
      const reported = await runHarness({ env: process.env, sigterm: sigterm.signal });
      process.exitCode = reported ? EXIT.DONE : EXIT.EXECUTION_FAILURES;
    });
}
