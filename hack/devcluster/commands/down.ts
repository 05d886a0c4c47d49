import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { rm, rmdir } from 'node:fs/promises';
import { ensurePrograms } from '../build/go-build.ts';
import { DevclusterError } from '../errors.ts';
import { forgetProcess, readBefore, readOwner, readProcesses } from '../machine-record.ts';
import { cgroupProcesses, removeCgroup } from '../node/cgroups.ts';
import { restoreKernelState } from '../node/kernel-state.ts';
import { removeNodeNetwork } from '../node/network.ts';
import { containerdSocket, nodePlan, type NodePlan } from '../node/node-plan.ts';
import { MACHINE, type StatePaths, cacheRoot } from '../paths.ts';
import { attempt } from '../system/command.ts';
import { endProcess, isAlive, startTimeOf } from '../system/processes.ts';

/**
 * Folders that kubelet, containerd and network plugins make at places of their own choice, children first. They are
 * removed where they are empty; what somebody else put there stays.
 */
const FIXED_FOLDERS = [
  '/run/containerd/s',
  '/run/containerd/runc/k8s.io',
  '/run/containerd/runc',
  '/run/containerd',
  '/var/lib/cni/results',
  '/var/lib/cni',
  '/var/lib/kubelet/device-plugins',
  '/var/lib/kubelet',
  '/var/log/containers',
  '/usr/libexec/kubernetes/kubelet-plugins/volume/exec',
  '/usr/libexec/kubernetes/kubelet-plugins/volume',
  '/usr/libexec/kubernetes/kubelet-plugins',
  '/usr/libexec/kubernetes',
];

/** Ends the cluster of this state, and removes what it held and did to the machine. Logs stay. */
export async function down(state: StatePaths, say: (line: string) => void): Promise<void> {
  const owner = await readOwner();
  if (owner !== undefined && owner.state !== state.root)
    throw new DevclusterError(
      `the development cluster of this machine is that of ${owner.state}: end it with ` +
        `CLAWBENCH_DEVCLUSTER_DIR=${owner.state} npm run devcluster -- down`,
    );
  if (owner === undefined) say('no cluster is up');
  else await takeDown(say);
  for (const path of [state.etcd, state.pki, state.bin, state.config, state.kubeconfig])
    await rm(path, { recursive: true, force: true });
  if (owner !== undefined) say('the cluster is down');
}

/** Undoes everything that is recorded on the machine, whoever did it. */
export async function takeDown(say: (line: string) => void): Promise<void> {
  const owner = await readOwner();
  const nodes = Array.from({ length: owner?.nodes ?? 1 }, (_, index) => nodePlan(index));
  // Who would start pods again, or write rules again, goes first.
  await end((name) => /kubelet$|kube-proxy$|kube-router$|scheduler$|controller-manager$/.test(name));
  for (const node of nodes) await removePods(node, say);
  await end((name) => name.endsWith('containerd'));
  // What etcd holds goes too: nobody needs to say good-bye.
  await end(() => true, 0);
  for (const node of nodes) await killLeftovers(node);
  await unmountAll();
  for (const node of nodes) await removeNodeNetwork(node);
  const before = readBefore();
  if (before !== undefined) await restoreKernelState(before);
  await removeCgroup(MACHINE.cgroup);
  const left = mountsBelow([MACHINE.root, MACHINE.run]);
  if (left.length > 0)
    throw new DevclusterError(`something still uses ${left.join(', ')}: end it, then run down again`);
  for (const folder of FIXED_FOLDERS) await rmdir(folder).catch(() => undefined);
  await rm(MACHINE.run, { recursive: true, force: true });
  await rm(MACHINE.root, { recursive: true, force: true });
}

async function end(which: (name: string) => boolean, graceSeconds = 10): Promise<void> {
  const chosen = (await readProcesses()).filter(({ name }) => which(name));
  await Promise.all(
    chosen.map(async (recorded) => {
      await endProcess(recorded, graceSeconds);
      await forgetProcess(recorded.name);
    }),
  );
}

/** Lets containerd remove all pods while it runs: it knows their networks and mounts. */
async function removePods(node: NodePlan, say: (line: string) => void): Promise<void> {
  const containerd = (await readProcesses()).find(({ name }) => name === `${node.name}-containerd`);
  if (containerd === undefined || !isAlive(containerd)) return;
  const programs = await ensurePrograms(['crictl'], say);
  const crictl = [programs.path('crictl', 'crictl'), `--runtime-endpoint=unix://${containerdSocket(node)}`];
  const [program = '', ...endpoint] = crictl;
  const answer = await attempt(program, [...endpoint, '--timeout=60s', 'rmp', '--all', '--force']);
  if (answer.code !== 0) say(`some pods of ${node.name} are removed the hard way`);
}

/** Kills what is left in the node's own control group: containers whose containerd is gone, and their shims. */
async function killLeftovers(node: NodePlan): Promise<void> {
  const socket = containerdSocket(node);
  const shims = (await attempt('pgrep', ['-f', `containerd-shim-runc-v2 .*${socket}`])).stdout;
  const pids = [
    ...shims
      .split('\n')
      .filter((line) => line !== '')
      .map(Number),
    ...(await cgroupProcesses(node.cgroup)),
  ];
  for (const pid of pids) {
    const startTime = startTimeOf(pid);
    if (startTime !== undefined) await endProcess({ pid, startTime }, 0);
  }
}

/**
 * Unmounts the deepest first; mounts may lie on each other, so again until nothing goes. An image build that was cut off
 * leaves its container mounted, and every build its storage.
 */
async function unmountAll(): Promise<void> {
  for (let round = 0; round < 5; round += 1) {
    const mounts = mountsBelow([MACHINE.root, MACHINE.run, join(cacheRoot(), 'buildah')]);
    if (mounts.length === 0) return;
    for (const path of mounts) await attempt('umount', [path]);
  }
}

/** Mount points below the folders, the last mounted first. */
function mountsBelow(folders: readonly string[]): readonly string[] {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => (line.split(' ')[4] ?? '').replaceAll(String.raw`\040`, ' '))
    .filter((path) => folders.some((folder) => path.startsWith(`${folder}/`)))
    .reverse();
}
