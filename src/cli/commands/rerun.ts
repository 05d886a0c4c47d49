import type { Command } from 'commander';
import {
  ISOLATIONS,
  RERUNNABLE_CLASSES,
  type Isolation,
  type RerunnableClass,
} from '../../api/vocabulary.ts';
import { rerunLocal } from '../../local/run-local.ts';
import { collectWords, oneOf } from '../option-parsers.ts';
import { finishRun, watchRun } from '../run-watch.ts';

interface RerunFlags {
  readonly class: RerunnableClass[];
  readonly scenario?: string[];
  readonly isolation: Isolation;
  readonly json: boolean;
}

/** `clawbench rerun`: new base attempts for failures that were not the agent's. */
export function registerRerunCommand(program: Command): void {
  program
    .command('rerun')
    .description('run failures of the given classes again; old attempts and scores are kept')
    .argument('<dir>', 'folder of the run')
    .requiredOption(
      '--class <classes>',
      `${RERUNNABLE_CLASSES.join(', ')}; separated by commas`,
      collectWords(oneOf(RERUNNABLE_CLASSES)),
    )
    .option('--scenario <ids>', 'only these scenarios; may be repeated', collectWords(String))
    .option(
      '--isolation <level>',
      `at most this isolation: ${ISOLATIONS.join(', ')}`,
      oneOf(ISOLATIONS),
      'container',
    )
    .option('--json', 'print report.json instead of a table', false)
    .action((root: string, flags: RerunFlags) =>
      watchRun(async (watch) => {
        const outcome = await rerunLocal({
          ...watch.world,
          root,
          selection: { classes: flags.class, scenarioIds: flags.scenario ?? [] },
          isolation: flags.isolation,
          keepWorkspace: false,
        });
        finishRun(outcome, flags.json, watch);
      }),
    );
}
