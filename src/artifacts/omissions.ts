import { OMISSION_REASONS } from '../api/manifest.ts';
import type { Omission, OmissionReason } from '../api/manifest.ts';
import { compareBytePaths, parentOf, recordPath } from './byte-path.ts';
import type { BytePath } from './byte-path.ts';
import type { LeftOut } from './scan.ts';

/**
 * The record of what was left out, itself bounded: for each reason the first `lines` entries in byte order of
 * their paths, and one line for all others, with their number and the folder that holds them all.
 */
export function summariseOmissions(leftOut: readonly LeftOut[], lines: number, prefix: string): Omission[] {
  const byReason = new Map<OmissionReason, LeftOut[]>();
  for (const entry of leftOut) {
    const same = byReason.get(entry.reason);
    if (same === undefined) byReason.set(entry.reason, [entry]);
    else same.push(entry);
  }
  return OMISSION_REASONS.flatMap((reason) => {
    const all = (byReason.get(reason) ?? []).sort((a, b) => compareBytePaths(a.path, b.path));
    const rest = all.slice(lines);
    const shown = rest.length > 1 ? [...all.slice(0, lines), together(rest, reason)] : all;
    return shown.map(({ path, bytes, count }) => ({ ...recordOf(path, prefix), reason, bytes, count }));
  });
}

function together(entries: readonly LeftOut[], reason: OmissionReason): LeftOut {
  let path = parentOf(entries[0]?.path ?? '');
  let count = 0;
  let bytes: number | null = 0;
  for (const entry of entries) {
    while (path !== '' && !entry.path.startsWith(`${path}/`)) path = parentOf(path);
    count += entry.count;
    bytes = bytes === null || entry.bytes === null ? null : bytes + entry.bytes;
  }
  return { path, reason, bytes, count };
}

/** The collected folder itself is recorded as the prefix, or `.` where there is none. */
function recordOf(path: BytePath, prefix: string) {
  return path === '' ? { path: prefix === '' ? '.' : prefix } : recordPath(path, prefix);
}
