import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { Command } from 'commander';
import {
  CONTROLLER_CONFIG_PATH,
  controllerConfigSchema,
  type ControllerConfig,
} from '../../api/controller-config.ts';
import { ENV } from '../../api/pod-contract.ts';
import { InvalidInputError, messageOf } from '../../api/errors.ts';
import { createLog } from '../../controller/main/log.ts';
import { releaseFinalizers } from '../../controller/main/release-finalizers.ts';
import { runController } from '../../controller/main/run-controller.ts';
import { loadClusterAccess } from '../../kube/config.ts';
import { terminationSignal } from '../interrupt.ts';

interface ControllerFlags {
  readonly config: string;
  readonly kubeconfig?: string;
  readonly releaseFinalizers: boolean;
}

/** `clawbench controller`: what the operator's Deployment runs. */
export function registerControllerCommand(program: Command): void {
  program
    .command('controller', { hidden: true })
    .description('watch over the runs of a cluster; started by the chart')
    .option('--config <file>', 'configuration as the chart writes it', CONTROLLER_CONFIG_PATH)
    .option('--kubeconfig <file>', 'cluster to work in; inside a pod its own account is used')
    .option(
      '--release-finalizers',
      'let go of every run, so that the operator can be removed, and end',
      false,
    )
    .action(async ({ config: file, kubeconfig, releaseFinalizers: release }: ControllerFlags) => {
      const config = await readConfig(file);
      const access = await loadClusterAccess(kubeconfig === undefined ? {} : { kubeconfig });
      const log = createLog(config.logLevel);
      const stop = terminationSignal();
      try {
        if (release) {
          const name = process.env[ENV.DEPLOYMENT];
          const namespace = process.env[ENV.POD_NAMESPACE] ?? access.namespace;
          const controller = name === undefined ? null : { namespace, name };
          await releaseFinalizers(access, config.watchNamespaces, controller, log, stop.signal);
          return;
        }
        await runController(
          {
            config,
            access,
            log,
            namespace: process.env[ENV.POD_NAMESPACE] ?? access.namespace,
            name: process.env[ENV.POD_NAME] ?? hostname(),
          },
          stop.signal,
        );
      } finally {
        stop.release();
        log.flush();
      }
    });
}

/** @throws InvalidInputError naming the file and each field that is wrong */
async function readConfig(file: string): Promise<ControllerConfig> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw new InvalidInputError({
      file,
      message: `the configuration cannot be read: ${messageOf(error)}`,
      remedy: 'Give --config the file that the chart writes.',
    });
  }
  const parsed = controllerConfigSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [first, ...more] = parsed.error.issues.map((issue) => ({
    file,
    field: issue.path.map(String).join('.'),
    message: issue.message,
  }));
  throw new InvalidInputError(
    first === undefined ? { file, message: parsed.error.message } : [first, ...more],
  );
}
