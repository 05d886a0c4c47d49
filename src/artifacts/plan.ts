import { compareBytePaths, depthOf, parentOf } from './byte-path.ts';
import type { BytePath } from './byte-path.ts';
import type { CollectionLimits } from './limits.ts';
import type { LeftOut, ScannedEntry } from './scan.ts';

export interface CollectionPlan {
  /** In byte order of the paths; the folder of every file and folder is among them. */
  readonly folders: readonly ScannedEntry[];
  readonly files: readonly ScannedEntry[];
  readonly leftOut: readonly LeftOut[];
}

/**
 * Chooses what to take under the bounds on number and bytes. Pure: the same entries give the same plan in
 * whatever order they come. First come the files that were there before the agent (checks look at them, and a
 * flood must not push them out), then shallow before deep, then byte order. A file that no longer fits is left
 * out, and smaller ones behind it are still taken.
 */
export function planCollection(
  entries: readonly ScannedEntry[],
  limits: CollectionLimits,
  expected: ReadonlySet<BytePath>,
): CollectionPlan {
  const foldersByPath = new Map(entries.flatMap((e) => (e.kind === 'folder' ? [[e.path, e] as const] : [])));
  const ordered = entries
    .map((entry) => ({ entry, late: expected.has(entry.path) ? 0 : 1, depth: depthOf(entry.path) }))
    .sort((a, b) => a.late - b.late || a.depth - b.depth || compareBytePaths(a.entry.path, b.entry.path));

  const folders = new Map<BytePath, ScannedEntry>();
  const files: ScannedEntry[] = [];
  const leftOut: LeftOut[] = [];
  let totalBytes = 0;

  for (const { entry } of ordered) {
    if (folders.has(entry.path)) continue;
    const missing = missingFolders(entry, foldersByPath, folders);
    const omit = (reason: 'total_bytes' | 'too_many_files') =>
      leftOut.push({ path: entry.path, reason, bytes: entry.kind === 'file' ? entry.bytes : null, count: 1 });
    if (files.length + folders.size + missing.length + 1 > limits.files) {
      omit('too_many_files');
    } else if (totalBytes + entry.bytes > limits.totalBytes) {
      omit('total_bytes');
    } else {
      for (const folder of missing) folders.set(folder.path, folder);
      if (entry.kind === 'folder') folders.set(entry.path, entry);
      else files.push(entry);
      totalBytes += entry.bytes;
    }
  }
  const byPath = (a: ScannedEntry, b: ScannedEntry) => compareBytePaths(a.path, b.path);
  return { folders: [...folders.values()].sort(byPath), files: files.sort(byPath), leftOut };
}

/** Folders above an entry that are not in the plan yet. */
function missingFolders(
  entry: ScannedEntry,
  all: ReadonlyMap<BytePath, ScannedEntry>,
  taken: ReadonlyMap<BytePath, ScannedEntry>,
): ScannedEntry[] {
  const missing: ScannedEntry[] = [];
  for (let path = parentOf(entry.path); path !== '' && !taken.has(path); path = parentOf(path)) {
    const folder = all.get(path);
    if (folder !== undefined) missing.push(folder);
  }
  return missing;
}
