import { createHash } from 'node:crypto';

/** Hexadecimal SHA-256 of text (as UTF-8) or bytes. */
export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

/** One file of a tree. `path` is relative, in bytes where the name is not UTF-8. */
export interface TreeEntry {
  readonly path: string | Uint8Array;
  /** Only the executable bit of the owner counts: other bits depend on the machine. */
  readonly mode: number;
  readonly sha256: string;
}

/**
 * Digest of a folder tree: SHA-256 over `<x or ->\0<path bytes>\0<sha256>\n` of each file, in byte order of
 * the paths. Independent of times, owners, listing order and empty folders.
 */
export function treeDigest(entries: Iterable<TreeEntry>): string {
  const lines = Array.from(entries, (entry) => ({ entry, path: Buffer.from(entry.path) }));
  lines.sort((a, b) => Buffer.compare(a.path, b.path));
  const hash = createHash('sha256');
  for (const { entry, path } of lines) {
    hash.update((entry.mode & 0o100) === 0 ? '-\0' : 'x\0');
    hash.update(path);
    hash.update(`\0${entry.sha256}\n`);
  }
  return hash.digest('hex');
}

/** JSON with the keys of every object in code point order: equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : item,
  );
}
