import type { Command } from 'commander';
import { ISOLATIONS, type Isolation } from '../../api/vocabulary.ts';
import { duration } from '../../local/progress.ts';
import { runLocal, type LocalOutcome } from '../../local/run-local.ts';
import { collectWords, oneOf, positiveInteger } from '../option-parsers.ts';
import { finishRun, type RunWatch, watchRun } from '../run-watch.ts';

interface LocalFlags {
  readonly file: string;
  readonly output: string;
  readonly suite?: string;
  readonly scenario?: string[];
  readonly trials?: number;
  readonly model?: string;
  readonly runtime?: string;
  readonly parallelism?: number;
  readonly isolation: Isolation;
  readonly keepWorkspace: boolean;
  readonly dryRun: boolean;
  readonly json: boolean;
}

/** `clawbench local`: a BenchmarkRun on this machine. */
export function registerLocalCommand(program: Command): void {
  program
    .command('local')
    .description('run a BenchmarkRun on this machine; with the same -o it resumes where it stopped')
    .requiredOption('-f, --file <run.yaml>', 'the BenchmarkRun')
    .requiredOption('-o, --output <dir>', 'folder of the run')
    .option('--suite <path>', 'folder of the suite, in place of the source that the file declares')
    .option('--scenario <ids>', 'only these scenarios; may be repeated', collectWords(String))
    .option('--trials <n>', 'trials per scenario', positiveInteger)
    .option('--model <id>', 'another model id')
    .option('--runtime <id>', 'another runtime')
    .option('--parallelism <n>', 'attempts at once', positiveInteger)
    .option(
      '--isolation <level>',
      `at most this isolation: ${ISOLATIONS.join(', ')}`,
      oneOf(ISOLATIONS),
      'container',
    )
    .option('--keep-workspace', "keep the agents' folders under the system's temporary folder", false)
    .option('--dry-run', 'count and estimate; start and write nothing', false)
    .option('--json', 'print report.json (or the estimate) instead of a table', false)
    .action((flags: LocalFlags) => watchRun((watch) => runAndPrint(flags, watch)));
}

async function runAndPrint(flags: LocalFlags, watch: RunWatch): Promise<void> {
  const { scenario, trials, model, runtime, parallelism } = flags;
  const outcome = await runLocal({
    ...watch.world,
    file: flags.file,
    root: flags.output,
    suitePath: flags.suite,
    overrides: { scenarioIds: scenario, trials, model, runtime, parallelism },
    isolation: flags.isolation,
    keepWorkspace: flags.keepWorkspace,
    dryRun: flags.dryRun,
  });
  if (outcome.kind === 'estimate') printEstimate(outcome.estimate, flags.json);
  else finishRun(outcome, flags.json, watch);
}

function printEstimate(
  estimate: Extract<LocalOutcome, { kind: 'estimate' }>['estimate'],
  json: boolean,
): void {
  if (json) {
    console.log(JSON.stringify(estimate, null, 2));
    return;
  }
  const cost =
    estimate.costUsdAtMost === null ? 'no bound is set' : `${estimate.costUsdAtMost.toFixed(2)} USD at most`;
  console.log(
    [
      `scenarios    ${estimate.scenarios}`,
      `trials       ${estimate.trials} (${estimate.trialsPerScenario} each, ${estimate.parallelism} at once)`,
      `attempts     ${estimate.trials} if none is retried, ${estimate.attemptsAtMost} at most`,
      `time         ${duration(estimate.longestSeconds)} if every trial used its whole budget`,
      `cost         ${cost}`,
    ].join('\n'),
  );
}
