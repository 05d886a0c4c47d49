import type { Command } from 'commander';
import { listTrials, showTrials, trialList, trialText } from '../../report/show.ts';
import { addClusterOptions, type ClusterFlags } from '../cluster/options.ts';
import { addReaderOptions, type ReaderFlags } from '../cluster/reader-options.ts';
import { EXIT } from '../exit-codes.ts';
import { isFolder } from '../run-argument.ts';
import { outputOption } from './report.ts';

interface ShowFlags extends ClusterFlags, ReaderFlags {
  readonly failed: boolean;
  readonly output: 'table' | 'json';
}

/** `clawbench show`: what happened in the trials of a run. */
export function registerShowCommand(program: Command): void {
  const command = program
    .command('show')
    .description('list the trials of a run, or show failed checks, transcript and changed files of some')
    .argument('<dir|run>', 'folder of the run, or name of a BenchmarkRun in a cluster')
    .argument('[trial]', 'SCENARIO, or SCENARIO/n for its n-th trial')
    .option('--failed', 'only trials that did not pass', false)
    .addOption(outputOption())
    .addHelpText(
      'after',
      `
Examples:
  clawbench show results --failed                 trials of a folder that did not pass
  clawbench show results planning_kiln/2          what happened in one of them
  clawbench show smoke planning_kiln -n team-a    of a run in a cluster: only what is shown is fetched`,
    );
  addReaderOptions(addClusterOptions(command)).action(
    async (target: string, query: string | undefined, flags: ShowFlags) => {
      if (await isFolder(target)) {
        await print(target, query, flags);
        return;
      }
      const { withRunFolder } = await import('../cluster/show-command.ts');
      const whole = await withRunFolder({ ...flags, flags, name: target }, query, (root) =>
        print(root, query, flags),
      );
      if (!whole) process.exitCode = EXIT.INTERRUPTED;
    },
  );
}

async function print(root: string, query: string | undefined, { failed, output }: ShowFlags): Promise<void> {
  const json = output === 'json';
  if (query === undefined) {
    const rows = await listTrials(root, failed);
    console.log(json ? JSON.stringify({ trials: rows }, null, 2) : trialList(rows));
    return;
  }
  const details = await showTrials(root, query, failed);
  if (json) console.log(JSON.stringify({ trials: details }, null, 2));
  else {
    console.log(
      details.length === 0 ? trialList([]) : details.map(trialText).join(`\n\n${'─'.repeat(80)}\n\n`),
    );
  }
}
