import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Programs } from '../build/go-build.ts';
import { ensureProcess } from '../machine-record.ts';
import { API_PORT, FIRST_NODE_ADDRESS, nodePlan } from '../node/node-plan.ts';
import type { StatePaths } from '../paths.ts';
import { Authority } from '../pki/authority.ts';
import { writeKubeconfig } from '../pki/kubeconfig.ts';
import { isAlive, logTail } from '../system/processes.ts';
import { waitFor } from '../system/wait.ts';
import { API_SERVICE_ADDRESS, apiServerArguments, isReady } from './api-server.ts';
import { controllerManagerArguments, schedulerArguments } from './controllers.ts';
import { etcdArguments } from './etcd.ts';

/** Nodes whose certificates are made with the authority. */
const NODES = [0] as const;
const ETCD_PORTS = { client: 2379, peer: 2380 } as const;

/** Certificates and kubeconfigs of a new cluster; those of an old one are left as they are. */
export async function ensureIdentities(state: StatePaths): Promise<Authority> {
  const done = join(state.pki, 'complete.kubeconfig');
  if (existsSync(done) && existsSync(state.kubeconfig)) return Authority.open(state.pki);
  const authority = await Authority.create(state.pki);
  const server = `https://127.0.0.1:${API_PORT}`;
  const fromAnywhere = `https://${FIRST_NODE_ADDRESS}:${API_PORT}`;
  await authority.issue({
    name: 'apiserver',
    commonName: 'kube-apiserver',
    alternativeNames: [
      ...['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'].map(
        (name) => `DNS:${name}`,
      ),
      'DNS:kubernetes.default.svc.cluster.local',
      ...['127.0.0.1', FIRST_NODE_ADDRESS, API_SERVICE_ADDRESS].map((address) => `IP:${address}`),
    ],
  });
  await authority.issue({
    name: 'apiserver-kubelet',
    commonName: 'apiserver-kubelet',
    organization: 'system:masters',
  });
  const client = async (name: string, user: string, url: string, organization?: string): Promise<void> => {
    const certificate = await authority.issue({
      name,
      commonName: user,
      ...(organization === undefined ? {} : { organization }),
    });
    await writeKubeconfig(kubeconfigOf(state, name), {
      server: url,
      authority: authority.certificate,
      user,
      credential: { certificate },
    });
  };
  await client('controller-manager', 'system:kube-controller-manager', server);
  await client('scheduler', 'system:kube-scheduler', server);
  await client('proxy', 'system:kube-proxy', fromAnywhere);
  await client('kube-router', 'clawbench-devcluster:kube-router', fromAnywhere, 'system:masters');
  for (const index of NODES) {
    const node = nodePlan(index);
    const user = `system:node:${node.name}`;
    const certificate = await authority.issue({
      name: node.name,
      commonName: user,
      organization: 'system:nodes',
      alternativeNames: [`DNS:${node.name}`, `IP:${node.address}`, 'IP:127.0.0.1'],
    });
    await writeKubeconfig(kubeconfigOf(state, node.name), {
      server: fromAnywhere,
      authority: authority.certificate,
      user,
      credential: { certificate },
    });
  }
  const admin = await authority.issue({
    name: 'admin',
    commonName: 'devcluster-admin',
    organization: 'system:masters',
  });
  const plan = {
    server,
    authority: authority.certificate,
    user: 'devcluster-admin',
    credential: { certificate: admin },
  };
  await writeKubeconfig(state.kubeconfig, plan);
  await writeKubeconfig(done, plan);
  return authority;
}

export function kubeconfigOf(state: StatePaths, name: string): string {
  return join(state.pki, `${name}.kubeconfig`);
}

/** Starts what of the control plane does not run, and returns when the API server is ready. */
export async function ensureControlPlane(
  state: StatePaths,
  programs: Programs,
  authority: Authority,
): Promise<void> {
  await mkdir(state.log, { recursive: true });
  const log = (name: string): string => join(state.log, `${name}.log`);
  await ensureProcess('etcd', () => ({
    name: 'etcd',
    argv: [
      programs.path('etcd', 'etcd'),
      ...etcdArguments(state.etcd, ETCD_PORTS.client, ETCD_PORTS.peer),
      '--quota-backend-bytes=8589934592',
      '--auto-compaction-retention=5m',
    ],
    log: log('etcd'),
  }));
  const server = await ensureProcess('kube-apiserver', () => ({
    name: 'kube-apiserver',
    argv: [
      programs.path('kubernetes', 'kube-apiserver'),
      ...apiServerArguments({
        authority,
        serving: authority.files('apiserver'),
        etcdPort: ETCD_PORTS.client,
        port: API_PORT,
        bindAddress: '0.0.0.0',
        advertiseAddress: FIRST_NODE_ADDRESS,
        enabledAdmission: ['NodeRestriction'],
        disabledAdmission: [],
        auditLog: join(state.log, 'audit.log'),
        kubeletClient: authority.files('apiserver-kubelet'),
      }),
    ],
    log: log('kube-apiserver'),
  }));
  await waitFor(() => isReady(API_PORT, authority.certificate), {
    what: `the API server to be ready (${server.log})`,
    seconds: 90,
    hopeless: () => (isAlive(server) ? undefined : `the API server ended:\n${logTail(server.log)}`),
  });
  await ensureProcess('kube-controller-manager', () => ({
    name: 'kube-controller-manager',
    argv: [
      programs.path('kubernetes', 'kube-controller-manager'),
      ...controllerManagerArguments(authority, kubeconfigOf(state, 'controller-manager'), '10257'),
    ],
    log: log('kube-controller-manager'),
  }));
  await ensureProcess('kube-scheduler', () => ({
    name: 'kube-scheduler',
    argv: [
      programs.path('kubernetes', 'kube-scheduler'),
      ...schedulerArguments(kubeconfigOf(state, 'scheduler')),
    ],
    log: log('kube-scheduler'),
  }));
}
