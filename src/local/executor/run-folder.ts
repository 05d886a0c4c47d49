import { existsSync } from 'node:fs';
import { chmod, lstat, mkdtemp, readdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { removeTree } from '../../artifacts/remove-tree.ts';
import { removeCgroups } from './cgroup.ts';
import { isAlive, markOf } from './processes.ts';

const PREFIX = 'clawbench-run-';
/** A folder without a mark may be one that another run makes right now. */
const UNMARKED_MS = 3_600_000;

const markSchema = z.object({
  pid: z.int(),
  startedAt: z.string().nullable(),
  /** Folders in which this run makes its groups. */
  cgroupParents: z.array(z.string()),
});

/** Prefix of the names of all groups of a run. */
export function cgroupPrefix(runFolder: string): string {
  return `${runFolder.slice(runFolder.lastIndexOf('/') + 1)}-`;
}

/** A fresh folder for everything that agents of one run touch; others may pass through it but not look into it. */
export async function makeRunFolder(): Promise<string> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), PREFIX));
  await chmod(folder, 0o711);
  await markRunFolder(folder, []);
  return folder;
}

export async function markRunFolder(folder: string, cgroupParents: readonly string[]): Promise<void> {
  const mark = { ...markOf(process.pid), cgroupParents };
  await writeFile(join(folder, 'owner.json'), JSON.stringify(mark), { mode: 0o600 });
}

/**
 * Removes what runs of this user that were killed have left: folders and groups. Their agents are dead already,
 * because a shim whose harness is gone kills them.
 *
 * @returns the folders that were removed
 */
export async function sweepStaleRuns(): Promise<readonly string[]> {
  const parent = await realpath(tmpdir());
  const swept: string[] = [];
  for (const name of await readdir(parent)) {
    const folder = join(parent, name);
    if (!name.startsWith(PREFIX) || !(await isOurs(folder))) continue;
    const mark = await readMark(folder);
    if (mark === null || isAlive(mark)) continue;
    for (const groups of mark.cgroupParents) {
      const names = await readdir(groups).catch(() => []);
      await removeCgroups(
        names.filter((group) => group.startsWith(cgroupPrefix(folder))).map((group) => join(groups, group)),
      );
    }
    await removeTree(folder).catch(() => undefined);
    swept.push(folder);
  }
  return swept;
}

async function isOurs(folder: string): Promise<boolean> {
  const stat = await lstat(folder).catch(() => null);
  return stat?.isDirectory() === true && stat.uid === process.getuid?.();
}

/** The mark of a run; null when the folder is none of a run, or too young to say. */
async function readMark(folder: string): Promise<z.infer<typeof markSchema> | null> {
  try {
    return markSchema.parse(JSON.parse(await readFile(join(folder, 'owner.json'), 'utf8')));
  } catch {
    const isRun = existsSync(join(folder, 'program')) || existsSync(join(folder, 'owner.json'));
    const stat = await lstat(folder).catch(() => null);
    if (!isRun || stat === null || Date.now() - stat.mtimeMs < UNMARKED_MS) return null;
    return { pid: 0, startedAt: '', cgroupParents: [] };
  }
}
