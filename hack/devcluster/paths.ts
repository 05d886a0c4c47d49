import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** The checkout that this program lies in. */
export const CHECKOUT = resolve(import.meta.dirname, '..', '..');

/** What belongs to one cluster and is of use to people: lies in the checkout, or where CLAWBENCH_DEVCLUSTER_DIR says. */
export interface StatePaths {
  readonly root: string;
  readonly kubeconfig: string;
  readonly bin: string;
  readonly log: string;
  readonly pki: string;
  readonly etcd: string;
  readonly config: string;
}

export function statePaths(
  root = process.env['CLAWBENCH_DEVCLUSTER_DIR'] ?? join(CHECKOUT, '.devcluster'),
): StatePaths {
  const absolute = resolve(root);
  return {
    root: absolute,
    kubeconfig: join(absolute, 'kubeconfig'),
    bin: join(absolute, 'bin'),
    log: join(absolute, 'log'),
    pki: join(absolute, 'pki'),
    etcd: join(absolute, 'etcd'),
    config: join(absolute, 'config'),
  };
}

/**
 * Built programs and images: outside of the checkout, so that a fresh clone on the same machine builds nothing anew.
 */
export function cacheRoot(): string {
  const own = process.env['CLAWBENCH_DEVCLUSTER_CACHE'];
  if (own !== undefined && own !== '') return resolve(own);
  const base = process.env['XDG_CACHE_HOME'];
  return join(base !== undefined && base !== '' ? base : join(homedir(), '.cache'), 'clawbench-devcluster');
}

/**
 * What a cluster does to the machine is recorded at a fixed place, for two reasons: it must be undone also when the
 * checkout that did it is gone, and a machine holds one cluster at a time (addresses, ports and chains are fixed).
 * It also holds what must not lie under an arbitrary path: socket names have 107 bytes at most, and overlay mounts
 * read commas and colons in a path as separators.
 */
export const MACHINE = {
  root: '/var/lib/clawbench-devcluster',
  owner: '/var/lib/clawbench-devcluster/owner.json',
  before: '/var/lib/clawbench-devcluster/before.json',
  processes: '/var/lib/clawbench-devcluster/processes',
  volumes: '/var/lib/clawbench-devcluster/volumes',
  run: '/run/clawbench-devcluster',
  cgroup: 'clawbench-devcluster',
} as const;
