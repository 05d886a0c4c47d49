import { Option, type Command } from 'commander';
import {
  ISOLATIONS,
  RERUNNABLE_CLASSES,
  type Isolation,
  type RerunnableClass,
} from '../../api/vocabulary.ts';
import { rerunLocal } from '../../local/run-local.ts';
import { addClusterOptions, type ClusterFlags } from '../cluster/options.ts';
import { collectWords, oneOf } from '../option-parsers.ts';
import { isFolder } from '../run-argument.ts';
import { finishRun, watchRun } from '../run-watch.ts';

interface RerunFlags extends ClusterFlags {
  readonly class: RerunnableClass[];
  readonly scenario?: string[];
  readonly isolation: Isolation;
  readonly wait: boolean;
  readonly json: boolean;
}

/** `clawbench rerun`: new base attempts for failures that were not the agent's. */
export function registerRerunCommand(program: Command): void {
  const command = program
    .command('rerun')
    .description('run failures of the given classes again; old attempts and scores are kept')
    .argument('<dir|run>', 'folder of the run, or name of a BenchmarkRun in a cluster')
    .requiredOption(
      '--class <classes>',
      `${RERUNNABLE_CLASSES.join(', ')}; separated by commas`,
      collectWords(oneOf(RERUNNABLE_CLASSES)),
    )
    .option('--scenario <ids>', 'only these scenarios; may be repeated', collectWords(String))
    .option(
      '--isolation <level>',
      `of a folder: at most this isolation: ${ISOLATIONS.join(', ')}`,
      oneOf(ISOLATIONS),
      'container',
    )
    .addOption(new Option('--no-wait', 'of a run in a cluster: end as soon as the change is accepted'))
    .option('--json', 'print report.json (of a cluster: the run and its trials) instead of a table', false)
    .addHelpText(
      'after',
      `
Examples:
  clawbench rerun results --class infrastructure            a folder of clawbench local
  clawbench rerun smoke --class provider,infrastructure     a run in a cluster
  clawbench rerun smoke --class provider --scenario planning_kiln`,
    );
  addClusterOptions(command).action(async (target: string, flags: RerunFlags) => {
    if (await isFolder(target)) await rerunFolder(target, flags);
    else await rerunInCluster(target, flags);
  });
}

async function rerunFolder(root: string, flags: RerunFlags): Promise<void> {
  await watchRun(async (watch) => {
    const outcome = await rerunLocal({
      ...watch.world,
      root,
      selection: { classes: flags.class, scenarioIds: flags.scenario ?? [] },
      isolation: flags.isolation,
      keepWorkspace: false,
    });
    finishRun(outcome, flags.json, watch);
  });
}

async function rerunInCluster(name: string, flags: RerunFlags): Promise<void> {
  const [{ changeAndSay }, { planRerun }] = await Promise.all([
    import('../cluster/change-command.ts'),
    import('../cluster/change-run.ts'),
  ]);
  process.exitCode = await changeAndSay({
    flags,
    name,
    plan: (run) => planRerun(run, [...new Set(flags.class)], flags.scenario ?? []),
    watch: flags.wait,
    json: flags.json,
  });
}
