import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const MOUNT = '/sys/fs/cgroup';

/** Makes a group in every hierarchy; the kubelet demands that the one above its pods is there. */
export async function makeCgroup(path: string): Promise<void> {
  for (const hierarchy of await hierarchies()) await mkdir(join(hierarchy, path), { recursive: true });
  for (const file of ['cpuset.cpus', 'cpuset.mems']) await inheritCpuset(path, file);
  if (isUnified()) await delegateControllers(path);
}

/** Numbers of all processes in the group and below it, in any hierarchy. */
export async function cgroupProcesses(path: string): Promise<readonly number[]> {
  const found = new Set<number>();
  for (const hierarchy of await hierarchies()) {
    for (const folder of tree(join(hierarchy, path))) {
      try {
        for (const pid of readFileSync(join(folder, 'cgroup.procs'), 'utf8').split('\n'))
          if (pid !== '') found.add(Number(pid));
      } catch {
        // The group went while we looked, or is of a kind that lists threads only.
      }
    }
  }
  return [...found];
}

/** Removes the group and those below it; they hold no process any more. */
export async function removeCgroup(path: string): Promise<void> {
  for (const hierarchy of await hierarchies()) {
    for (const folder of tree(join(hierarchy, path)).reverse()) await rmdir(folder).catch(() => undefined);
  }
}

/** Parents before children. */
function tree(root: string): string[] {
  if (!existsSync(root)) return [];
  const children = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [root, ...children.flatMap((entry) => tree(join(root, entry.name)))];
}

/** The mounts of version 1, or the one of version 2. */
async function hierarchies(): Promise<readonly string[]> {
  if (isUnified()) return [MOUNT];
  const entries = await readdir(MOUNT, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(MOUNT, entry.name));
}

/** A new group of version 1 has no processors and takes no process until it is given some. */
async function inheritCpuset(path: string, file: string): Promise<void> {
  const root = join(MOUNT, 'cpuset');
  if (!existsSync(join(root, file))) return;
  const value = await readFile(join(root, file), 'utf8');
  let folder = root;
  for (const part of path.split('/')) {
    folder = join(folder, part);
    if ((await readFile(join(folder, file), 'utf8')).trim() === '')
      await writeFile(join(folder, file), value);
  }
}

/** Version 2 has one hierarchy, in which every parent must hand its controllers down. */
async function delegateControllers(path: string): Promise<void> {
  let folder = MOUNT;
  for (const part of ['', ...path.split('/')]) {
    folder = join(folder, part);
    const controllers = (await readFile(join(folder, 'cgroup.controllers'), 'utf8')).trim().split(' ');
    // One at a time: a controller that cannot be handed down (for real-time groups) must not keep the others back.
    for (const controller of controllers)
      await writeFile(join(folder, 'cgroup.subtree_control'), `+${controller}`).catch(() => undefined);
  }
}

function isUnified(): boolean {
  return existsSync(join(MOUNT, 'cgroup.controllers'));
}
