import { join } from 'node:path';
import type { Executor, ExecutorLimits } from '../../attempt/executor.ts';
import { listenForShim, type ShimConnection } from '../../attempt/shim/connection.ts';
import { SHIM_NAME, shimProgram } from '../../attempt/shim/program.ts';
import { writeFileDurably } from '../../files/durable.ts';
import type { Mounts } from '../mounts.ts';

export interface PodExecutorOptions {
  readonly mounts: Mounts;
  readonly limits: ExecutorLimits;
  /** On the pod's loopback device. */
  readonly port: number;
}

/** The container beside the harness. */
export interface PodExecutor extends Executor {
  /** Ends the conversation: then the shim, and with it the container, ends too. */
  readonly close: () => void;
}

/**
 * Makes the executor of a pod: listens for its shim, and then puts the shim's program where the container waits for
 * it, under a temporary name first, so that half of it is never run.
 *
 * No token is needed: in the pod's network there is nobody but harness and shim before an agent exists, and once
 * the shim has connected nobody listens any more.
 *
 * @throws InfrastructureError `ShimMissing` where the port is taken, `DiskFull`; system errors
 */
export async function openPodExecutor(options: PodExecutorOptions): Promise<PodExecutor> {
  const { mounts, limits } = options;
  const listener = await listenForShim({ port: options.port, token: null });
  const shim = join(mounts.program, SHIM_NAME);
  await writeFileDurably(shim, await shimProgram(), 0o644);
  let connection: ShimConnection | null = null;
  return {
    isolation: 'container',
    paths: {
      workspace: join(mounts.work, 'workspace'),
      state: mounts.state,
      home: mounts.home,
      program: mounts.program,
      node: 'node',
    },
    // The executor's own /tmp is out of our sight; the kubelet bounds it.
    writable: [mounts.work, mounts.state, mounts.home],
    // PATH is the image's own: the shim adds it.
    baseEnv: { HOME: mounts.home, LANG: 'C.UTF-8', TERM: 'dumb', TMPDIR: '/tmp' },
    limits,
    // The container's memory is bounded by its cgroup; a bound on the number of its processes no pod can ask for.
    heldByShim: { memory: false, pids: true },
    owner: null,
    connect: async (timeoutMs, signal) => {
      connection = await listener.connection(timeoutMs, signal);
      return connection;
    },
    // Only the shim can see the executor's cgroup: its count is taken.
    facts: () => Promise.resolve({ oomKills: null, pidsRefused: null }),
    // We have no hand in the other container. A shim that loses us kills everything; one that is gone was the
    // container's first process, without which the kernel leaves none of the others.
    destroy: () => {
      connection?.end();
      return Promise.resolve();
    },
    close: () => {
      listener.close();
      connection?.end();
    },
  };
}
