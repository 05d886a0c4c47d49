import { existsSync } from 'node:fs';
import { readOwner, readProcesses } from '../machine-record.ts';
import type { StatePaths } from '../paths.ts';
import { attempt } from '../system/command.ts';
import { isAlive } from '../system/processes.ts';
import { join } from 'node:path';

export interface ClusterStatus {
  /** Whether every process runs and every node is Ready. */
  readonly up: boolean;
  readonly kubeconfig: string;
  readonly processes: readonly {
    readonly name: string;
    readonly pid: number;
    readonly running: boolean;
    readonly log: string;
  }[];
  readonly nodes: readonly { readonly name: string; readonly ready: boolean }[];
}

export async function clusterStatus(state: StatePaths): Promise<ClusterStatus> {
  const owner = await readOwner();
  const recorded = owner?.state === state.root ? await readProcesses() : [];
  const processes = recorded.map(({ name, pid, startTime, log }) => ({
    name,
    pid,
    running: isAlive({ pid, startTime }),
    log,
  }));
  const nodes = await nodesOf(state);
  return {
    up:
      processes.length > 0 &&
      processes.every(({ running }) => running) &&
      nodes.length > 0 &&
      nodes.every(({ ready }) => ready),
    kubeconfig: state.kubeconfig,
    processes,
    nodes,
  };
}

async function nodesOf(state: StatePaths): Promise<ClusterStatus['nodes']> {
  const kubectl = join(state.bin, 'kubectl');
  if (!existsSync(kubectl) || !existsSync(state.kubeconfig)) return [];
  const line =
    '{range .items[*]}{.metadata.name} {.status.conditions[?(@.type=="Ready")].status}{"\\n"}{end}';
  const { stdout } = await attempt(kubectl, [
    `--kubeconfig=${state.kubeconfig}`,
    '--request-timeout=5s',
    'get',
    'nodes',
    `-ojsonpath=${line}`,
  ]);
  return stdout
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => {
      const [name = '', ready] = text.split(' ');
      return { name, ready: ready === 'True' };
    });
}

/** The status as a table for people. */
export function formatStatus(status: ClusterStatus): string {
  if (status.processes.length === 0) return 'no cluster is up (npm run devcluster -- up)';
  const width = Math.max(...status.processes.map(({ name }) => name.length));
  return [
    ...status.processes.map(
      ({ name, pid, running, log }) => `${name.padEnd(width)}  ${running ? `pid ${pid}` : 'ENDED'}  ${log}`,
    ),
    ...status.nodes.map(({ name, ready }) => `${name.padEnd(width)}  ${ready ? 'Ready' : 'NOT READY'}`),
    `export KUBECONFIG=${status.kubeconfig}`,
  ].join('\n');
}
