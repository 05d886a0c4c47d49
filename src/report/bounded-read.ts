import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { errnoOf } from '../api/errors.ts';

/** The beginning and, where the file is longer than the bound, the end of a file. */
export interface BoundedBytes {
  readonly size: number;
  readonly head: Buffer;
  /** null where `head` is the whole file. */
  readonly tail: Buffer | null;
}

/**
 * Reads at most `limit` bytes of a regular file: all of it, or its first and last halves. It follows no link,
 * because an agent may have made what is read.
 *
 * @returns undefined where there is no such regular file
 */
export async function readBounded(path: string, limit: number): Promise<BoundedBytes | undefined> {
  let handle;
  try {
    // O_NONBLOCK: opening a pipe that nobody writes to must not wait for ever.
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = errnoOf(error);
    if (
      code === 'ENOENT' ||
      code === 'ENOTDIR' ||
      code === 'ELOOP' ||
      code === 'EACCES' ||
      code === 'ENXIO'
    ) {
      return undefined;
    }
    throw error;
  }
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) return undefined;
    if (stat.size <= limit) return { size: stat.size, head: await handle.readFile(), tail: null };
    const half = Math.floor(limit / 2);
    const head = Buffer.alloc(half);
    const tail = Buffer.alloc(half);
    await handle.read(head, 0, half, 0);
    await handle.read(tail, 0, half, stat.size - half);
    return { size: stat.size, head, tail };
  } finally {
    await handle.close();
  }
}

/** The bytes as text, or undefined where they are not UTF-8 text. `partial` allows a cut character at the end. */
export function asText(bytes: Buffer, partial = false): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: partial });
  } catch {
    return undefined;
  }
}
