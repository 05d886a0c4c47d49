import { createHash } from 'node:crypto';
import { closeSync, createReadStream, fstatSync, type Stats } from 'node:fs';
import { joinBytePath, parentOf, recordPath, type BytePath } from '../../artifacts/byte-path.ts';
import { FolderHandle } from '../../artifacts/folder-handle.ts';
import { errnoOf } from '../../api/errors.ts';
import type { TreeLine } from './protocol.ts';

/** A regular file that was opened without following a link. Whoever gets it closes `fd`. */
export interface OpenedFile {
  readonly fd: number;
  readonly stats: Stats;
}

/**
 * Opens a regular file below a folder; no component below the folder may be a link.
 *
 * @param path a plain path (`isPlainPath`)
 * @returns the file, or why there is none to serve
 */
export function openBelow(root: string, path: BytePath): OpenedFile | 'missing' | 'refused' {
  const parent = parentOf(path);
  let fd: number;
  try {
    using top = FolderHandle.open(root);
    using folder = top.descend(parent);
    fd = folder.openFile(parent === '' ? path : path.slice(parent.length + 1));
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? 'missing' : 'refused';
  }
  const stats = fstatSync(fd);
  if (stats.isFile()) return { fd, stats };
  closeSync(fd);
  return 'refused';
}

/**
 * Every file below a folder with its size, mode and digest, in byte order within each folder; what is not a regular
 * file is named and not followed. Entries that vanish meanwhile are left out. Memory is bounded by the longest
 * folder, not by the tree.
 *
 * @param under a file or a folder to start from, '' for all
 * @param without files and folders to leave out
 */
export async function* walkTree(
  root: string,
  under: BytePath,
  without: ReadonlySet<BytePath>,
): AsyncGenerator<TreeLine> {
  const total = { files: 0, bytes: 0 };
  for await (const line of linesOf(root, under, without)) {
    if ('sha256' in line) {
      total.files += 1;
      total.bytes += line.bytes;
    }
    yield line;
  }
  yield { end: true, ...total };
}

async function* linesOf(
  root: string,
  under: BytePath,
  without: ReadonlySet<BytePath>,
): AsyncGenerator<TreeLine> {
  if (under !== '') {
    const file = openBelow(root, under);
    if (file === 'missing') return;
    if (file !== 'refused') {
      yield await hashedLine(under, file);
      return;
    }
  }
  const pending: BytePath[] = [under];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const entries = entriesOf(root, folder);
    if (typeof entries === 'string') {
      yield { ...recordPath(folder), refused: entries };
      continue;
    }
    const folders: BytePath[] = [];
    for (const { name, isFolder } of entries) {
      const path = joinBytePath(folder, name);
      if (without.has(path)) continue;
      if (isFolder) {
        folders.push(path);
        continue;
      }
      const file = openBelow(root, path);
      if (file === 'missing') continue;
      if (file === 'refused') yield { ...recordPath(path), refused: 'not a regular file that can be read' };
      else yield await hashedLine(path, file);
    }
    pending.push(...folders.reverse());
  }
}

function entriesOf(
  root: string,
  folder: BytePath,
): readonly { readonly name: BytePath; readonly isFolder: boolean }[] | string {
  try {
    using top = FolderHandle.open(root);
    using handle = top.descend(folder);
    return handle.names().flatMap((name) => {
      try {
        return [{ name, isFolder: handle.lstat(name).isDirectory() }];
      } catch (error) {
        // Renamed or removed since the folder was listed: a run may still be going on.
        if (errnoOf(error) === 'ENOENT') return [];
        throw error;
      }
    });
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENOENT') return [];
    if (code === undefined) throw error;
    return `cannot be opened without following links (${code})`;
  }
}

async function hashedLine(path: BytePath, { fd, stats }: OpenedFile): Promise<TreeLine> {
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const chunk of createReadStream('', { fd, autoClose: true, highWaterMark: 262_144 })) {
      const data = chunk as Buffer;
      hash.update(data);
      bytes += data.length;
    }
  } catch (error) {
    return { ...recordPath(path), refused: `cannot be read (${errnoOf(error) ?? 'error'})` };
  }
  return { ...recordPath(path), bytes, mode: stats.mode & 0o7777, sha256: hash.digest('hex') };
}
