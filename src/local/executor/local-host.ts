import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { InfrastructureError } from '../../api/errors.ts';
import type { Isolation } from '../../api/vocabulary.ts';
import { removeTree } from '../../artifacts/remove-tree.ts';
import { findCgroupParents, type CgroupParents } from './cgroup.ts';
import { chooseIsolation, openToAnyUser, type IsolationChoice } from './isolation.ts';
import { stageProgram, type StagedProgram } from './program.ts';
import { cgroupPrefix, makeRunFolder, markRunFolder, sweepStaleRuns } from './run-folder.ts';

export interface LocalHostOptions {
  /** Folders no agent may look into: the run's folder, the checkout, the suite. */
  readonly hide: readonly string[];
  /** Upper bound of isolation; the strongest that works is taken. */
  readonly isolation?: Isolation;
  /** Leaves the agents' folders behind for a look. */
  readonly keep?: boolean;
}

/** This machine as a place for the executors of one run. Opened once a run, closed at its end. */
export interface LocalHost {
  /** Folder of the run under the system's temporary one. */
  readonly folder: string;
  readonly program: StagedProgram;
  readonly choice: IsolationChoice;
  readonly cgroups: CgroupParents | null;
  readonly hide: readonly string[];
  readonly keep: boolean;
  /** Hidden folders that an agent could yet look into, because here only a container hides them. */
  readonly exposed: readonly string[];
  readonly close: () => Promise<void>;
}

/**
 * Prepares this machine for a run: sweeps what killed runs left, stages the program, and finds out how agents can be
 * kept apart and bounded here.
 */
export async function openLocalHost(options: LocalHostOptions): Promise<LocalHost> {
  await sweepStaleRuns();
  const folder = await makeRunFolder();
  try {
    const hide = options.hide.filter((path) => existsSync(path)).map((path) => realpathSync(path));
    if (hide.includes('/'))
      throw new InfrastructureError('ExecutorUnavailable', 'the root folder cannot be hidden');
    const cgroups = process.getuid?.() === 0 ? findCgroupParents(`${cgroupPrefix(folder)}probe`) : null;
    const parents = [...new Set([cgroups?.memory, cgroups?.pids])].flatMap((path) => path ?? []);
    const [program, choice] = await Promise.all([
      stageProgram(folder),
      chooseIsolation(folder, options.isolation),
      markRunFolder(folder, parents),
    ]);
    const exposed = { container: () => [], uid: () => openToAnyUser(hide), none: () => hide };
    return {
      folder,
      program,
      choice,
      cgroups,
      hide,
      keep: options.keep ?? false,
      exposed: exposed[choice.isolation](),
      close: async () => {
        // The mark goes last: until then a later run may sweep what could not be removed.
        if (options.keep !== true) await removeTree(folder);
        else await removeTree(join(folder, 'program'));
      },
    };
  } catch (error) {
    await removeTree(folder);
    throw error;
  }
}
