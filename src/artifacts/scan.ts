import type { Stats } from 'node:fs';
import { errnoOf } from '../api/errors.ts';
import type { OmissionReason } from '../api/manifest.ts';
import { joinBytePath } from './byte-path.ts';
import type { BytePath } from './byte-path.ts';
import type { FolderHandle } from './folder-handle.ts';
import type { CollectionLimits } from './limits.ts';
import type { TimeSlices } from './time-slices.ts';

/** A regular file or folder as it was seen; enough to tell later whether it is still the same one. */
export interface ScannedEntry {
  readonly path: BytePath;
  readonly kind: 'file' | 'folder';
  readonly bytes: number;
  /** Permission bits, without the file type. */
  readonly mode: number;
  readonly dev: number;
  readonly ino: number;
  readonly mtimeMs: number;
  /** Allocated less than its size says. */
  readonly sparse: boolean;
}

/** One or more entries that are left out. `path` is an entry, or for `count` > 1 the folder they lie in. */
export interface LeftOut {
  readonly path: BytePath;
  readonly reason: OmissionReason;
  readonly bytes: number | null;
  readonly count: number;
}

export interface Scan {
  readonly entries: readonly ScannedEntry[];
  readonly leftOut: readonly LeftOut[];
  /** The signal came before everything was seen. */
  readonly cutShort: boolean;
}

/**
 * Looks at everything below a folder, level by level, without opening a file. Shallow entries come first, so
 * that a bound on the number of entries is met by what lies deep (a tree of packages), not by results.
 *
 * @param expected paths that are looked at even where a folder has too many entries
 * @param owner uid whose hard links are taken: what the agent owns it could have copied as well
 */
export async function scanTree(
  root: FolderHandle,
  limits: CollectionLimits,
  expected: ReadonlySet<BytePath>,
  owner: number,
  slices: TimeSlices,
): Promise<Scan> {
  const scan = { entries: [] as ScannedEntry[], leftOut: [] as LeftOut[], cutShort: false };
  const device = root.stat().dev;
  let level: BytePath[] = [''];
  let scanned = 0;
  for (let depth = 1; level.length > 0; depth += 1) {
    const deeper: BytePath[] = [];
    for (const folder of level) {
      if (depth > limits.depth || scanned >= limits.scanned) {
        const reason = depth > limits.depth ? 'too_deep' : 'too_many_files';
        scan.leftOut.push({ path: folder, reason, bytes: null, count: 1 });
        continue;
      }
      const listing = listFolder(root, folder);
      if ('failed' in listing) {
        scan.leftOut.push({ path: folder, reason: listing.failed, bytes: null, count: 1 });
        continue;
      }
      using handle = listing.handle;
      const room = Math.min(limits.files, limits.scanned - scanned);
      const looked = listing.names.filter(
        (name, at) => at < room || expected.has(joinBytePath(folder, name)),
      );
      const count = listing.names.length - looked.length;
      if (count > 0) scan.leftOut.push({ path: folder, reason: 'too_many_files', bytes: null, count });
      scanned += looked.length;
      for (const name of looked) {
        await slices.breathe();
        if (slices.isStopped()) return { ...scan, cutShort: true };
        const seen = lookAt(handle, name, joinBytePath(folder, name), limits, device, owner);
        if ('reason' in seen) {
          scan.leftOut.push(seen);
        } else {
          scan.entries.push(seen);
          if (seen.kind === 'folder') deeper.push(seen.path);
        }
      }
    }
    level = deeper;
  }
  return slices.isStopped() ? { ...scan, cutShort: true } : scan;
}

function listFolder(
  root: FolderHandle,
  folder: BytePath,
): { handle: FolderHandle; names: BytePath[] } | { failed: OmissionReason } {
  let handle: FolderHandle | undefined;
  try {
    handle = root.descend(folder);
    return { handle, names: handle.names() };
  } catch (error) {
    handle?.close();
    return { failed: reasonOfFailure(error) };
  }
}

function lookAt(
  folder: FolderHandle,
  name: BytePath,
  path: BytePath,
  limits: CollectionLimits,
  device: number,
  owner: number,
): ScannedEntry | LeftOut {
  let stats: Stats;
  try {
    stats = folder.lstat(name);
  } catch (error) {
    return { path, reason: reasonOfFailure(error), bytes: null, count: 1 };
  }
  const isFile = stats.isFile();
  const reason = reasonAgainst(path, name, stats, limits, device, owner);
  if (reason !== null) return { path, reason, bytes: isFile ? stats.size : null, count: 1 };
  return {
    path,
    kind: isFile ? 'file' : 'folder',
    bytes: isFile ? stats.size : 0,
    mode: stats.mode & 0o7777,
    dev: stats.dev,
    ino: stats.ino,
    mtimeMs: stats.mtimeMs,
    sparse: isFile && stats.blocks * 512 < stats.size,
  };
}

/** Why an entry cannot be taken whatever the others are; null when it can. */
function reasonAgainst(
  path: BytePath,
  name: BytePath,
  stats: Stats,
  limits: CollectionLimits,
  device: number,
  owner: number,
): OmissionReason | null {
  if (stats.isSymbolicLink()) return 'symlink';
  if (stats.isFIFO()) return 'fifo';
  if (stats.isSocket()) return 'socket';
  if (stats.isBlockDevice() || stats.isCharacterDevice()) return 'device';
  if (name.length > limits.nameBytes || path.length > limits.pathBytes) return 'name_too_long';
  // Only folders: on an overlay file system a file may show the device of the layer it comes from.
  if (stats.isDirectory()) return stats.dev === device ? null : 'other_filesystem';
  if (stats.nlink > 1 && stats.uid !== owner) return 'hard_link';
  return stats.size > limits.fileBytes ? 'too_large' : null;
}

/** An entry that vanished or changed its kind between two looks was changed; any other error hides it. */
export function reasonOfFailure(error: unknown): OmissionReason {
  const code = errnoOf(error);
  const changed = code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP' || code === 'ENXIO';
  return changed ? 'changed_while_reading' : 'unreadable';
}
