import type { Command } from 'commander';
import { compareRuns } from '../../report/compare/compare-runs.ts';
import { comparisonText } from '../../report/compare/comparison-text.ts';
import { outputOption } from './report.ts';

/** `clawbench compare`: what changed from one run to another, and what differs in their configurations. */
export function registerCompareCommand(program: Command): void {
  program
    .command('compare')
    .description('compare two runs scenario by scenario, second minus first, with intervals')
    .argument('<first>', 'folder of the run that the other is measured against')
    .argument('<second>', 'folder of the other run')
    .addOption(outputOption())
    .action(async (first: string, second: string, { output }: { output: 'table' | 'json' }) => {
      const comparison = await compareRuns(first, second);
      console.log(output === 'json' ? JSON.stringify(comparison, null, 2) : comparisonText(comparison));
    });
}
