import { closeSync, fstatSync, readSync } from 'node:fs';
import { errnoOf } from '../api/errors.ts';
import { bytePath, parentOf } from './byte-path.ts';
import { FolderHandle } from './folder-handle.ts';

/** What stands where an agent may have written a file. */
export type UntrustedFile =
  | { readonly kind: 'file'; readonly bytes: Buffer; readonly size: number }
  | { readonly kind: 'missing' }
  /** A link, a folder, a device, a file beyond the bound or one that cannot be read. */
  | { readonly kind: 'refused'; readonly message: string };

/**
 * Reads one file below a folder that an agent could write to: no component below the folder may be a link, and
 * nothing but a regular file of at most `maxBytes` is read. For adapters that look into a runtime's state.
 *
 * @param folder absolute; its parents are ours
 * @param path relative to the folder, with `/`, without `.` and `..`
 */
export function readUntrustedFile(folder: string, path: string, maxBytes: number): UntrustedFile {
  const file = bytePath(path);
  const parent = parentOf(file);
  if (path === '' || file.split('/').some((name) => name === '' || name === '.' || name === '..')) {
    return { kind: 'refused', message: `${path} is not a plain relative path` };
  }
  let fd: number;
  try {
    using root = FolderHandle.open(folder);
    using holder = root.descend(parent);
    fd = holder.openFile(parent === '' ? file : file.slice(parent.length + 1));
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENOENT') return { kind: 'missing' };
    return {
      kind: 'refused',
      message: `${path} cannot be opened without following links (${code ?? 'error'})`,
    };
  }
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) return { kind: 'refused', message: `${path} is not a regular file` };
    if (stats.size > maxBytes) {
      return { kind: 'refused', message: `${path} has ${stats.size} bytes, more than ${maxBytes}` };
    }
    const bytes = Buffer.alloc(stats.size);
    let length = 0;
    while (length < bytes.length) {
      const read = readSync(fd, bytes, length, bytes.length - length, length);
      if (read === 0) break;
      length += read;
    }
    return { kind: 'file', bytes: bytes.subarray(0, length), size: length };
  } finally {
    closeSync(fd);
  }
}
