import type { Command } from 'commander';
import { addClusterOptions, type ClusterFlags } from '../cluster/options.ts';
import { outputOption } from './report.ts';

interface StatusFlags extends ClusterFlags {
  readonly watch: boolean;
  readonly output: 'table' | 'json';
}

/** `clawbench status`: runs of a cluster, or one of them. */
export function registerStatusCommand(program: Command): void {
  const command = program
    .command('status')
    .description('list the runs of a namespace, or show one: conditions, counts, scores, trials')
    .argument('[run]', 'name of a BenchmarkRun')
    .option('-w, --watch', 'with a run: show how it goes on until it ends, then its headline scores', false)
    .addOption(outputOption())
    .addHelpText(
      'after',
      `
Examples:
  clawbench status                       runs of the context's namespace
  clawbench status smoke -n team-a       one of them
  clawbench status smoke --watch         watch it to its end; exit codes as of clawbench run
  clawbench status smoke -o json         {run, trials} as the API server has them`,
    );
  addClusterOptions(command).action(async (name: string | undefined, flags: StatusFlags) => {
    const { printStatus } = await import('../cluster/status-command.ts');
    process.exitCode = await printStatus({ flags, name, watch: flags.watch, json: flags.output === 'json' });
  });
}
