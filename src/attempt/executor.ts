import type { Isolation } from '../api/vocabulary.ts';
import type { AgentPaths } from '../runtimes/adapter.ts';
import type { ShimConnection } from './shim/connection.ts';

/** Bounds of everything an agent's processes use together; null is not bounded. */
export interface ExecutorLimits {
  readonly memoryBytes: number | null;
  readonly pids: number | null;
  /** Workspace, state, home and temporary files together. */
  readonly diskBytes: number | null;
}

/** What only an observer outside the agent's reach can tell. Counts since the executor was launched. */
export interface ExecutorFacts {
  /** null where no cgroup counts. */
  readonly oomKills: number | null;
  /** How often the kernel refused a process for the bound on their number; null where no cgroup counts. */
  readonly pidsRefused: number | null;
}

/**
 * The place where an agent runs: a folder with workspace, state and home, and a shim in it. The harness is the
 * same for a place on this machine and for a container beside it.
 */
export interface Executor {
  readonly isolation: Isolation;
  readonly paths: AgentPaths;
  /** Every folder of its own that the agent can write to: together they count for the disk bound. */
  readonly writable: readonly string[];
  /** Environment of every process of the agent, built from nothing. */
  readonly baseEnv: Readonly<Record<string, string>>;
  readonly limits: ExecutorLimits;
  /** Bounds that no cgroup holds here, so that the shim has to look. */
  readonly heldByShim: { readonly memory: boolean; readonly pids: boolean };
  /** User of the agent's processes, who must own what is staged; null when it is the harness's own. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
  /**
   * The connection of the shim.
   *
   * @throws InfrastructureError `ShimMissing` when it does not come within `timeoutMs`
   */
  readonly connect: (timeoutMs: number, signal?: AbortSignal) => Promise<ShimConnection>;
  readonly facts: () => Promise<ExecutorFacts>;
  /** Kills everything of the agent from outside, without the shim; for when that is gone. Never throws. */
  readonly destroy: () => Promise<void>;
}
