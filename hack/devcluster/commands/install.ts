import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ensurePrograms } from '../build/go-build.ts';
import { DevclusterError } from '../errors.ts';
import { CHECKOUT, type StatePaths } from '../paths.ts';
import { attempt, run } from '../system/command.ts';
import { load } from './load.ts';

export const RELEASE = 'clawbench';
export const NAMESPACE = 'clawbench-system';

/**
 * Loads the operator's image, installs or upgrades the chart with it and waits until the operator is ready.
 *
 * @throws DevclusterError when there is no chart, or the operator does not get ready
 */
export async function install(state: StatePaths, say: (line: string) => void): Promise<void> {
  const chart = join(CHECKOUT, 'charts', 'clawbench-operator');
  if (!existsSync(join(chart, 'Chart.yaml')))
    throw new DevclusterError('there is no charts/clawbench-operator/Chart.yaml to install');
  const [operator] = await load(state, ['clawbench-operator'], say);
  if (operator === undefined) throw new DevclusterError('the image of the operator was not built');
  const programs = await ensurePrograms(['helm', 'kubernetes'], say);
  const kubeconfig = `--kubeconfig=${state.kubeconfig}`;
  try {
    await run(programs.path('helm', 'helm'), [
      'upgrade',
      RELEASE,
      chart,
      '--install',
      kubeconfig,
      `--namespace=${NAMESPACE}`,
      '--create-namespace',
      `--values=${join(import.meta.dirname, '..', 'install-values.yaml')}`,
      // The tag is the content's: an upgrade changes pods when the program changed, and only then.
      `--set-string=image.tag=${operator.key}`,
      '--wait',
      '--timeout=180s',
    ]);
  } catch (error) {
    const pods = await attempt(programs.path('kubernetes', 'kubectl'), [
      kubeconfig,
      `--namespace=${NAMESPACE}`,
      'get',
      'pods,events',
    ]);
    say(pods.stdout.trimEnd());
    throw error;
  }
  say(`${RELEASE} is ready in namespace ${NAMESPACE} with ${operator.exactReference}`);
}
