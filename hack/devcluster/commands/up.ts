import { existsSync } from 'node:fs';
import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensurePrograms, type Programs } from '../build/go-build.ts';
import { CLUSTER_MODULES } from '../build/modules.ts';
import { ensureControlPlane, ensureIdentities } from '../control-plane/control-plane.ts';
import { DevclusterError } from '../errors.ts';
import { ensureOwnImages } from '../images/own-images.ts';
import {
  endedProcess,
  readBefore,
  readOwner,
  readProcesses,
  writeBefore,
  writeOwner,
} from '../machine-record.ts';
import { applySettings, readKernelState } from '../node/kernel-state.ts';
import { ensurePodRoutes } from '../node/network.ts';
import { containerdSocket, nodePlan } from '../node/node-plan.ts';
import { ensureContainerd, ensureNode } from '../node/node.ts';
import { MACHINE, type StatePaths } from '../paths.ts';
import { run } from '../system/command.ts';
import { ensurePackages } from '../system/packages.ts';
import { isAlive, logTail } from '../system/processes.ts';
import { takeDown } from './down.ts';

/**
 * Brings up the cluster or what of it is missing; a cluster that runs is left alone.
 *
 * @throws DevclusterError when the machine holds the cluster of another checkout, or something does not start
 */
export async function up(state: StatePaths, say: (line: string) => void): Promise<void> {
  await ensurePackages(say);
  const programs = await ensurePrograms(CLUSTER_MODULES, say);
  const archives = await ensureOwnImages(programs, say);
  await takeMachine(state, say);

  await mkdir(state.log, { recursive: true });
  await mkdir(MACHINE.volumes, { recursive: true });
  await linkPrograms(state, programs);
  const authority = await ensureIdentities(state);
  const context = { state, programs, authority };
  const nodes = [nodePlan(0)];
  await applySettings();
  await ensurePodRoutes();
  // The API server advertises the first node's address, which its bridge holds.
  await Promise.all([
    (async () => {
      for (const node of nodes) await ensureContainerd(node, context, archives);
    })(),
    ensureControlPlane(state, programs, authority),
  ]);
  await applyAddons(state, programs);
  for (const node of nodes) await ensureNode(node, context);
  await waitForAddons(state, programs);
  const ended = await endedProcess();
  if (ended !== undefined)
    throw new DevclusterError(`${ended.name} ended soon after its start:\n${logTail(ended.log)}`);
  say(`the cluster is up: export KUBECONFIG=${state.kubeconfig}`);
}

/** Makes the machine this state's, after clearing what a cluster that runs no more has left. */
async function takeMachine(state: StatePaths, say: (line: string) => void): Promise<void> {
  const owner = await readOwner();
  if (owner !== undefined) {
    const alive = (await readProcesses()).filter(isAlive);
    if (owner.state !== state.root && alive.length > 0)
      throw new DevclusterError(
        `this machine already runs the development cluster of ${owner.state}: use ${join(owner.state, 'kubeconfig')}, ` +
          `or end it with CLAWBENCH_DEVCLUSTER_DIR=${owner.state} npm run devcluster -- down`,
      );
    if (alive.length === 0 || !existsSync(state.pki)) {
      say('clearing what an earlier cluster left');
      await takeDown(say);
    }
  }
  if (readBefore() === undefined) {
    await rm(state.etcd, { recursive: true, force: true });
    await rm(state.pki, { recursive: true, force: true });
    await mkdir(MACHINE.root, { recursive: true });
    await writeBefore(await readKernelState());
  }
  await writeOwner({ state: state.root, nodes: 1 });
}

/** kubectl and helm, and crictl and ctr that know where the first node's containerd listens. */
async function linkPrograms(state: StatePaths, programs: Programs): Promise<void> {
  await mkdir(state.bin, { recursive: true });
  const relink = async (name: string, target: string): Promise<void> => {
    await rm(join(state.bin, name), { force: true });
    await symlink(target, join(state.bin, name));
  };
  await relink('kubectl', programs.path('kubernetes', 'kubectl'));
  await relink('helm', programs.path('helm', 'helm'));
  const socket = containerdSocket(nodePlan(0));
  const wrap = async (name: string, line: string): Promise<void> => {
    await rm(join(state.bin, name), { force: true });
    await writeFile(join(state.bin, name), `#!/bin/sh\nexec ${line} "$@"\n`);
    await chmod(join(state.bin, name), 0o755);
  };
  const quoted = (path: string): string => `'${path.replaceAll("'", String.raw`'\''`)}'`;
  await wrap(
    'crictl',
    `${quoted(programs.path('crictl', 'crictl'))} --config /dev/null --runtime-endpoint unix://${socket}`,
  );
  await wrap('ctr', `${quoted(programs.path('containerd', 'ctr'))} --address ${socket} --namespace k8s.io`);
}

const ADDONS = ['dns.yaml', 'storage.yaml'];

async function applyAddons(state: StatePaths, programs: Programs): Promise<void> {
  const files = ADDONS.flatMap((file) => ['-f', join(import.meta.dirname, '..', 'addons', file)]);
  await run(programs.path('kubernetes', 'kubectl'), [
    `--kubeconfig=${state.kubeconfig}`,
    'apply',
    '--server-side',
    '--force-conflicts',
    ...files,
  ]);
}

async function waitForAddons(state: StatePaths, programs: Programs): Promise<void> {
  for (const name of ['coredns', 'local-path']) {
    await run(programs.path('kubernetes', 'kubectl'), [
      `--kubeconfig=${state.kubeconfig}`,
      '--namespace=kube-system',
      'rollout',
      'status',
      `deployment/${name}`,
      '--timeout=90s',
    ]);
  }
}
