import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import type { ExecutorFacts, ExecutorLimits } from '../../attempt/executor.ts';

/** Where groups can be made, by controller; null where the machine does not let us. */
export interface CgroupParents {
  readonly version: 1 | 2;
  readonly memory: string | null;
  readonly pids: string | null;
}

/** The bounds of one attempt, kept by the kernel. */
export interface Cgroup {
  /** Folders of the group, one for each hierarchy. */
  readonly folders: readonly string[];
  readonly holds: { readonly memory: boolean; readonly pids: boolean };
  readonly facts: () => ExecutorFacts;
  /** Removes the group once it is empty; a process that does not die keeps it, for the next sweep. */
  readonly remove: () => Promise<void>;
}

const MOUNT = '/sys/fs/cgroup';

/** Finds where groups for memory and number of processes can be made: below our own group where possible. */
export function findCgroupParents(
  probeName: string,
  mount = MOUNT,
  proc = '/proc/self/cgroup',
): CgroupParents | null {
  const own = ownGroups(proc);
  if (existsSync(join(mount, 'cgroup.controllers'))) {
    for (const parent of new Set([join(mount, own.get('') ?? '/'), mount])) {
      if (enable(parent) && canMake(parent, probeName)) return { version: 2, memory: parent, pids: parent };
    }
    return null;
  }
  const parentOf = (controller: string) => {
    const root = join(mount, controller);
    // In a container the path of our group names a place on the host; there the root is our own group.
    const candidates = [join(root, own.get(controller) ?? '/'), root];
    return (
      candidates.find((parent) => existsSync(join(parent, 'cgroup.procs')) && canMake(parent, probeName)) ??
      null
    );
  };
  const found = { version: 1 as const, memory: parentOf('memory'), pids: parentOf('pids') };
  return found.memory === null && found.pids === null ? null : found;
}

/** Makes a group and sets its bounds. @throws the system's error: then the caller goes on without a group */
export function makeCgroup(parents: CgroupParents, name: string, limits: ExecutorLimits): Cgroup {
  const folders = new Set<string>();
  const make = (parent: string | null, wanted: number | null) => {
    if (parent === null || wanted === null) return null;
    const folder = join(parent, name);
    if (!folders.has(folder)) mkdirSync(folder);
    folders.add(folder);
    return folder;
  };
  const memory = make(parents.memory, limits.memoryBytes);
  const pids = make(parents.pids, limits.pids);
  if (memory !== null) boundMemory(memory, parents.version, limits.memoryBytes ?? 0);
  if (pids !== null) writeFileSync(join(pids, 'pids.max'), String(limits.pids));
  return {
    folders: [...folders],
    holds: { memory: memory !== null, pids: pids !== null },
    facts: () => ({
      oomKills:
        memory === null
          ? null
          : counter(join(memory, parents.version === 2 ? 'memory.events' : 'memory.oom_control'), 'oom_kill'),
      pidsRefused: pids === null ? null : counter(join(pids, 'pids.events'), 'max'),
    }),
    remove: () => removeCgroups([...folders]),
  };
}

/** Removes empty groups. Those that are not there, or not empty after a while, are left. */
export async function removeCgroups(folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    for (let tries = 0; tries < 20 && existsSync(folder); tries += 1) {
      try {
        rmdirSync(folder);
      } catch {
        await delay(10); // a process that was killed has not left it yet
      }
    }
  }
}

function boundMemory(folder: string, version: 1 | 2, bytes: number): void {
  if (version === 2) {
    writeFileSync(join(folder, 'memory.max'), String(bytes));
    writeIfThere(join(folder, 'memory.swap.max'), '0');
    return;
  }
  writeFileSync(join(folder, 'memory.limit_in_bytes'), String(bytes));
  writeIfThere(join(folder, 'memory.memsw.limit_in_bytes'), String(bytes));
}

/** Not every kernel accounts for swap. */
function writeIfThere(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch {
    // memory alone is bounded then
  }
}

function ownGroups(proc: string): Map<string, string> {
  const groups = new Map<string, string>();
  for (const line of readOr(proc).split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) continue;
    for (const controller of controllers.split(',')) groups.set(controller, path);
  }
  return groups;
}

/** Hands memory and pids down to children; refused where the group holds processes itself. */
function enable(parent: string): boolean {
  const has = () => /\bmemory\b.*\bpids\b/.test(readOr(join(parent, 'cgroup.subtree_control')));
  if (has()) return true;
  try {
    writeFileSync(join(parent, 'cgroup.subtree_control'), '+memory +pids');
  } catch {
    return false;
  }
  return has();
}

function canMake(parent: string, name: string): boolean {
  const folder = join(parent, name);
  try {
    mkdirSync(folder);
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

function counter(path: string, name: string): number | null {
  const count = new RegExp(`^${name} (\\d+)$`, 'm').exec(readOr(path))?.[1];
  return count === undefined ? null : Number(count);
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
