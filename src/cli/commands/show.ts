import type { Command } from 'commander';
import { listTrials, showTrials, trialList, trialText } from '../../report/show.ts';
import { outputOption } from './report.ts';

interface ShowFlags {
  readonly failed: boolean;
  readonly output: 'table' | 'json';
}

/** `clawbench show`: what happened in the trials of a run. */
export function registerShowCommand(program: Command): void {
  program
    .command('show')
    .description('list the trials of a run, or show failed checks, transcript and changed files of some')
    .argument('<dir>', 'folder of the run')
    .argument('[trial]', 'SCENARIO, or SCENARIO/n for its n-th trial')
    .option('--failed', 'only trials that did not pass', false)
    .addOption(outputOption())
    .action(async (root: string, query: string | undefined, { failed, output }: ShowFlags) => {
      const json = output === 'json';
      if (query === undefined) {
        const rows = await listTrials(root, failed);
        console.log(json ? JSON.stringify({ trials: rows }, null, 2) : trialList(rows));
        return;
      }
      const details = await showTrials(root, query, failed);
      if (json) console.log(JSON.stringify({ trials: details }, null, 2));
      else
        console.log(
          details.length === 0 ? trialList([]) : details.map(trialText).join(`\n\n${'─'.repeat(80)}\n\n`),
        );
    });
}
