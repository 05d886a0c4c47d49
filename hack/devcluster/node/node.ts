import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Programs } from '../build/go-build.ts';
import { SERVICE_RANGE } from '../control-plane/api-server.ts';
import { kubeconfigOf } from '../control-plane/control-plane.ts';
import { importImage } from '../images/import.ts';
import { ensureProcess } from '../machine-record.ts';
import type { StatePaths } from '../paths.ts';
import type { Authority } from '../pki/authority.ts';
import { attempt, run } from '../system/command.ts';
import { isAlive, logTail } from '../system/processes.ts';
import { waitFor } from '../system/wait.ts';
import { makeCgroup } from './cgroups.ts';
import { planContainerd } from './containerd.ts';
import { planKubelet, planKubeProxy, planKubeRouter } from './kubelet.ts';
import { ensureNodeNetwork } from './network.ts';
import { containerdSocket, type NodePlan } from './node-plan.ts';

export interface NodeContext {
  readonly state: StatePaths;
  readonly programs: Programs;
  readonly authority: Authority;
}

/** The node's network and containerd, with the images that every node needs. May run before there is an API server. */
export async function ensureContainerd(
  node: NodePlan,
  context: NodeContext,
  archives: readonly string[],
): Promise<void> {
  const { state, programs } = context;
  await mkdir(node.root, { recursive: true });
  await ensureNodeNetwork(node);
  await makeCgroup(node.cgroup);
  const log = join(state.log, `${node.name}-containerd.log`);
  const containerd = await ensureProcess(`${node.name}-containerd`, () =>
    planContainerd(node, programs, { log, mayLowerOomScore: hasCapability(24) }),
  );
  await waitFor(
    async () => {
      const answer = await attempt(programs.path('containerd', 'ctr'), [
        '--address',
        containerdSocket(node),
        'version',
      ]);
      return answer.code === 0 ? true : undefined;
    },
    {
      what: `containerd of ${node.name}`,
      seconds: 30,
      hopeless: () => (isAlive(containerd) ? undefined : `containerd ended:\n${logTail(log)}`),
    },
  );
  if (containerd.started) for (const archive of archives) await importImage(node, programs, archive);
}

/** Starts what of the node does not run, registers it with its pod range and returns when it is Ready. */
export async function ensureNode(node: NodePlan, context: NodeContext): Promise<void> {
  const { state, programs, authority } = context;
  const log = (name: string): string => join(state.log, `${node.name}-${name}.log`);
  const kubelet = await ensureProcess(`${node.name}-kubelet`, () =>
    planKubelet(node, programs, authority, {
      log: log('kubelet'),
      kubeconfig: kubeconfigOf(state, node.name),
    }),
  );
  await ensureProcess(`${node.name}-kube-proxy`, () =>
    planKubeProxy(node, programs, { log: log('kube-proxy'), kubeconfig: kubeconfigOf(state, 'proxy') }),
  );
  const kubectl = kubectlOf(context);
  const hopeless = (): string | undefined =>
    isAlive(kubelet) ? undefined : `the kubelet of ${node.name} ended:\n${logTail(kubelet.log)}`;
  await waitFor(
    async () => ((await kubectl(['get', 'node', node.name, '-o', 'name'])).code === 0 ? true : undefined),
    { what: `${node.name} to register`, seconds: 60, everyMilliseconds: 200, hopeless },
  );
  const range = JSON.stringify({ spec: { podCIDR: node.podRange, podCIDRs: [node.podRange] } });
  await run(programs.path('kubernetes', 'kubectl'), [
    '--kubeconfig',
    state.kubeconfig,
    'patch',
    'node',
    node.name,
    '-p',
    range,
  ]);
  await ensureProcess(`${node.name}-kube-router`, () =>
    planKubeRouter(node, programs, SERVICE_RANGE, {
      log: log('kube-router'),
      kubeconfig: kubeconfigOf(state, 'kube-router'),
    }),
  );
  await waitFor(
    async () => {
      const path = '{.status.conditions[?(@.type=="Ready")].status}';
      const answer = await kubectl(['get', 'node', node.name, '-o', `jsonpath=${path}`]);
      return answer.stdout === 'True' ? true : undefined;
    },
    { what: `${node.name} to be Ready (${kubelet.log})`, seconds: 90, everyMilliseconds: 200, hopeless },
  );
}

function kubectlOf(context: NodeContext): (args: readonly string[]) => ReturnType<typeof attempt> {
  const program = context.programs.path('kubernetes', 'kubectl');
  return (args) => attempt(program, ['--kubeconfig', context.state.kubeconfig, ...args]);
}

/** Whether this process has the capability of that number and can pass it on. */
function hasCapability(number: number): boolean {
  const line = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'));
  return ((BigInt(`0x${line?.[1] ?? '0'}`) >> BigInt(number)) & 1n) === 1n;
}
