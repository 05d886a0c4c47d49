import { join } from 'node:path';
import { MACHINE } from '../paths.ts';

/** All pods of all nodes. */
export const POD_RANGE = '10.244.0.0/16';
/** The first node's bridge: its address, and the API server's for every pod. */
export const FIRST_NODE_ADDRESS = '10.244.0.1';
export const DNS_ADDRESS = '10.96.0.10';
export const DNS_DOMAIN = 'cluster.local';
export const API_PORT = 6443;

/** One node of the cluster; there is one today. */
export interface NodePlan {
  readonly name: string;
  readonly index: number;
  /** containerd's and the kubelet's files. */
  readonly root: string;
  /** Sockets. */
  readonly run: string;
  readonly address: string;
  readonly podRange: string;
  readonly bridge: string;
  /** Path below each controller's mount. */
  readonly cgroup: string;
}

export function nodePlan(index: number): NodePlan {
  const name = `node-${index}`;
  return {
    name,
    index,
    root: join(MACHINE.root, name),
    run: join(MACHINE.run, name),
    address: index === 0 ? FIRST_NODE_ADDRESS : `10.244.${index}.1`,
    podRange: `10.244.${index}.0/24`,
    bridge: 'cbdev0',
    cgroup: `${MACHINE.cgroup}/${name}`,
  };
}

/** Where containerd of a node listens. */
export function containerdSocket(node: NodePlan): string {
  return join(node.run, 'containerd.sock');
}
