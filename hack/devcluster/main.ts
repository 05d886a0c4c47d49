import { Command } from 'commander';
import { ensurePrograms } from './build/go-build.ts';
import { CLUSTER_MODULES } from './build/modules.ts';
import { down } from './commands/down.ts';
import { install } from './commands/install.ts';
import { load } from './commands/load.ts';
import { clusterStatus, formatStatus } from './commands/status.ts';
import { up } from './commands/up.ts';
import { DevclusterError } from './errors.ts';
import { MACHINE, statePaths } from './paths.ts';
import { withLock } from './system/lock.ts';
import { ensurePackages } from './system/packages.ts';

/*
 * `npm run devcluster -- ...`: a real Kubernetes cluster on this machine, for root on Debian. What is told here is told
 * on standard error, so that standard output holds results alone.
 */

const say = (line: string): void => console.error(line);

/** One command changes the machine at a time. */
async function alone(work: () => Promise<void>): Promise<void> {
  await withLock(`${MACHINE.run}.lock`, work, () => say('waiting for another devcluster command'));
}

const program = new Command('devcluster').description('A real Kubernetes cluster on this machine.');
program
  .command('up')
  .description('start the cluster, or what of it is missing')
  .action(async () => {
    await alone(() => up(statePaths(), say));
  });
program
  .command('load')
  .argument('<names...>', 'images/NAME.Dockerfile, without the ending')
  .description('build images where needed and import them as localhost/NAME:dev')
  .action(async (names: string[]) => {
    await alone(async () => {
      await load(statePaths(), names, say);
    });
  });
program
  .command('install')
  .description("load the operator's image, install the chart and wait until it is ready")
  .action(async () => {
    await alone(() => install(statePaths(), say));
  });
program
  .command('down')
  .description('end the cluster and undo what it did to the machine')
  .action(async () => {
    await alone(() => down(statePaths(), say));
  });
program
  .command('status')
  .description('print what runs')
  .option('-o, --output <format>', 'json')
  .action(async (options: { output?: string }) => {
    const status = await clusterStatus(statePaths());
    console.log(options.output === 'json' ? JSON.stringify(status, null, 2) : formatStatus(status));
    if (!status.up) process.exitCode = 1;
  });
program
  .command('build')
  .description('build the programs without starting anything')
  .action(async () => {
    await ensurePackages(say);
    await ensurePrograms(CLUSTER_MODULES, say);
  });

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof DevclusterError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
