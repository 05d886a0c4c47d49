import { Option, type Command } from 'commander';
import { addClusterOptions, type ClusterFlags } from '../cluster/options.ts';
import { outputOption } from './report.ts';

interface ChangeFlags extends ClusterFlags {
  readonly output: 'table' | 'json';
}

interface RescoreFlags extends ChangeFlags {
  readonly suite?: string;
  readonly wait: boolean;
}

/** `clawbench suspend`, `resume`, `cancel` and `rescore`: what may be changed of a run in a cluster. */
export function registerChangeCommands(program: Command): void {
  register(program, 'suspend', 'start nothing new of a run; what runs ends in order', 'Suspend');
  register(program, 'resume', 'let a suspended run go on', 'Resume');
  register(
    program,
    'cancel',
    'end a run: what runs is killed and collected, the rest never starts',
    'Cancel',
  );
  const rescore = program
    .command('rescore')
    .description('score a run again, with repaired checks if a suite is given; earlier scores are kept')
    .argument('<run>', 'name of the BenchmarkRun')
    .option(
      '--suite <source>',
      'suite whose checks grade: builtin, pvc:CLAIM/PATH, configmap:NAME or image:REFERENCE#PATH',
    )
    .addOption(new Option('--no-wait', 'end as soon as the change is accepted'))
    .addOption(outputOption())
    .addHelpText(
      'after',
      `
Examples:
  clawbench rescore smoke                                 grade again what is stored
  clawbench rescore smoke --suite pvc:suites/repaired     with the checks in folder "repaired" of claim "suites"
  clawbench rescore smoke --suite configmap:repaired      with those in key suite.tar.gz of a ConfigMap`,
    );
  addClusterOptions(rescore).action(async (name: string, flags: RescoreFlags) => {
    const [{ changeAndSay }, { parseSuiteSource, planRescore }] = await Promise.all([
      import('../cluster/change-command.ts'),
      import('../cluster/change-run.ts'),
    ]);
    const suite = flags.suite === undefined ? undefined : parseSuiteSource(flags.suite);
    process.exitCode = await changeAndSay({
      flags,
      name,
      plan: (run) => planRescore(run, suite),
      watch: flags.wait,
      json: flags.output === 'json',
    });
  });
}

function register(
  program: Command,
  word: 'suspend' | 'resume' | 'cancel',
  description: string,
  plan: 'Suspend' | 'Resume' | 'Cancel',
): void {
  const command = program
    .command(word)
    .description(description)
    .argument('<run>', 'name of the BenchmarkRun')
    .addOption(outputOption())
    .addHelpText('after', `\nExample:\n  clawbench ${word} smoke -n team-a`);
  addClusterOptions(command).action(async (name: string, flags: ChangeFlags) => {
    const [{ changeAndSay }, plans] = await Promise.all([
      import('../cluster/change-command.ts'),
      import('../cluster/change-run.ts'),
    ]);
    process.exitCode = await changeAndSay({
      flags,
      name,
      plan: plans[`plan${plan}`],
      watch: false,
      json: flags.output === 'json',
    });
  });
}
