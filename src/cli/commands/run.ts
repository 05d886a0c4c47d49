import { Option, type Command } from 'commander';
import { addClusterOptions, type ClusterFlags } from '../cluster/options.ts';
import { collectWords, positiveInteger } from '../option-parsers.ts';
import { outputOption } from './report.ts';

interface RunFlags extends ClusterFlags {
  readonly file: string;
  readonly scenario?: string[];
  readonly trials?: number;
  readonly model?: string;
  readonly runtime?: string;
  readonly parallelism?: number;
  readonly dryRun: boolean;
  readonly wait: boolean;
  readonly output: 'table' | 'json';
}

/** `clawbench run`: a BenchmarkRun in a cluster. */
export function registerRunCommand(program: Command): void {
  const command = program
    .command('run')
    .description('run a BenchmarkRun in a cluster, show how it goes on and print its headline scores')
    .requiredOption('-f, --file <run.yaml>', 'the BenchmarkRun')
    .option('--scenario <ids>', 'only these scenarios; may be repeated', collectWords(String))
    .option('--trials <n>', 'trials per scenario', positiveInteger)
    .option('--model <id>', 'another model id')
    .option('--runtime <id>', 'another runtime')
    .option('--parallelism <n>', 'attempts at once', positiveInteger)
    .option('--dry-run', 'let the API server check everything; nothing is kept', false)
    .addOption(new Option('--no-wait', 'end as soon as the run is accepted'))
    .addOption(outputOption())
    .addHelpText(
      'after',
      `
Examples:
  clawbench run -f examples/run.yaml                 make the run and watch it to its end
  clawbench run -f examples/run.yaml --dry-run       would the cluster accept it?
  clawbench run -f run.yaml -n team-a --no-wait      make it; \`clawbench status NAME -n team-a\` looks later
  clawbench run -f run.yaml --parallelism 8          the same run again: changes what may be changed, and watches

Ctrl-C ends only the watching: the run goes on in the cluster.
Exit codes: 0 done, 1 execution failures, 2 refused, 3 the cluster cannot be reached, 130 interrupted.`,
    );
  addClusterOptions(command).action(async (flags: RunFlags) => {
    const { runAndWatch } = await import('../cluster/run-command.ts');
    const { scenario, trials, model, runtime, parallelism } = flags;
    process.exitCode = await runAndWatch({
      flags,
      file: flags.file,
      overrides: { scenarioIds: scenario, trials, model, runtime, parallelism },
      dryRun: flags.dryRun,
      wait: flags.wait,
      json: flags.output === 'json',
    });
  });
}
