import { createHash } from 'node:crypto';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';

/** Entries that one look takes in; of a larger tree it sees the first ones, which is enough to see life. */
const MOST_ENTRIES = 5000;
const DEEPEST = 16;

/**
 * A word that changes when anything under the given files and folders is written, made, renamed or removed:
 * names, sizes and modification times. Nothing is opened but folders, no link is followed, and what cannot be
 * looked at counts as absent: an agent may be changing all of it meanwhile.
 */
export async function fingerprint(paths: readonly string[]): Promise<string> {
  const queue = paths.map((path) => ({ path, depth: 0 }));
  const hash = createHash('sha256');
  let budget = MOST_ENTRIES;
  for (let next = queue.shift(); next !== undefined && budget > 0; next = queue.shift()) {
    budget -= 1;
    const { path, depth } = next;
    const stat = await lstat(path).catch(() => null);
    if (stat === null) continue;
    hash.update(`${path}\0${stat.size}\0${stat.mtimeMs}\0`);
    if (!stat.isDirectory() || depth >= DEEPEST) continue;
    for (const name of await namesIn(path, budget)) queue.push({ path: join(path, name), depth: depth + 1 });
  }
  return hash.digest('hex');
}

async function namesIn(folder: string, most: number): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const entry of await opendir(folder)) {
      if (names.length >= most) break;
      names.push(entry.name);
    }
  } catch {
    // removed meanwhile: what was seen until then counts
  }
  return names.sort();
}
