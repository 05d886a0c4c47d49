import type { Stats } from 'node:fs';
import { joinBytePath } from './byte-path.ts';
import type { BytePath } from './byte-path.ts';
import { FolderHandle } from './folder-handle.ts';
import { TimeSlices } from './time-slices.ts';

/** Deeper folders are not looked into: whoever nests so deep hides something. */
const DEEPEST = 256;

export interface UsageBound {
  /** Allocated bytes. */
  readonly bytes: number;
  /** Files, folders, links and everything else. */
  readonly entries: number;
}

export interface DiskUsage {
  /** Allocated on the disk, in bytes: holes count nothing, a file with several names counts once. */
  readonly bytes: number;
  readonly entries: number;
  /** Which bound was passed, where the measurement then stopped; null when none was. */
  readonly exceeded: 'bytes' | 'entries' | 'depth' | null;
  /** False when the signal came first, or something could not be looked at. */
  readonly complete: boolean;
}

/**
 * Measures what lies in a folder while an agent writes to it. Links are not followed, what vanishes meanwhile is
 * passed over, and the work stops at the first bound that is passed, so that a flood costs no more than the
 * bound. Files that were deleted but are still held open are not seen; a quota of the file system or a limit of
 * the pod stands behind this one for them.
 */
export async function measureUsage(
  folder: string,
  options: { readonly stopAfter?: Partial<UsageBound>; readonly signal?: AbortSignal } = {},
): Promise<DiskUsage> {
  const { bytes: mostBytes = Infinity, entries: mostEntries = Infinity } = options.stopAfter ?? {};
  const slices = new TimeSlices(options.signal);
  const counted = new Set<string>();
  const usage = { bytes: 0, entries: 0, exceeded: null as DiskUsage['exceeded'], complete: true };

  using root = openOrNull(() => FolderHandle.open(folder));
  if (root === null) return { ...usage, complete: false };
  const pending: { path: BytePath; depth: number }[] = [{ path: '', depth: 0 }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { path, depth } = next;
    using handle = openOrNull(() => root.descend(path));
    const names = handle === null ? null : namesOrNull(handle);
    if (handle === null || names === null) {
      usage.complete = false;
      continue;
    }
    for (const name of names) {
      await slices.breathe();
      if (slices.isStopped()) return { ...usage, complete: false };
      const stats = lstatOrNull(handle, name);
      if (stats === null) continue;
      usage.entries += 1;
      if (!seenBefore(stats, counted)) usage.bytes += stats.blocks * 512;
      if (usage.entries > mostEntries) return { ...usage, exceeded: 'entries' };
      if (usage.bytes > mostBytes) return { ...usage, exceeded: 'bytes' };
      if (!stats.isDirectory()) continue;
      if (depth + 1 >= DEEPEST) return { ...usage, exceeded: 'depth' };
      pending.push({ path: joinBytePath(path, name), depth: depth + 1 });
    }
  }
  return usage;
}

/** Further names of a file that was counted take no more of the disk. */
function seenBefore(stats: Stats, counted: Set<string>): boolean {
  if (stats.nlink <= 1 || stats.isDirectory()) return false;
  const key = `${stats.dev}:${stats.ino}`;
  if (counted.has(key)) return true;
  counted.add(key);
  return false;
}

function openOrNull(open: () => FolderHandle): FolderHandle | null {
  try {
    return open();
  } catch {
    return null;
  }
}

function namesOrNull(folder: FolderHandle): BytePath[] | null {
  try {
    return folder.names();
  } catch {
    return null;
  }
}

function lstatOrNull(folder: FolderHandle, name: BytePath): Stats | null {
  try {
    return folder.lstat(name);
  } catch {
    return null;
  }
}
