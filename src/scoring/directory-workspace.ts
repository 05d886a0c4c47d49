import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import type { Stats } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../api/errors.ts';
import type { WorkspaceReader, WorkspaceText } from './workspace-reader.ts';

/** Bytes of a file that a check reads at most. */
export const MAX_CHECKED_FILE_BYTES = 16 * 1024 * 1024;

/**
 * Reads a workspace that lies in a folder. No component of a path may be a link: each is looked at before the file
 * is opened, and the last is opened without following. Nobody writes to a collected workspace while it is
 * graded, so nothing can be exchanged in between.
 */
export function directoryWorkspace(root: string, maxBytes = MAX_CHECKED_FILE_BYTES): WorkspaceReader {
  return {
    exists: async (path) => {
      const found = await locate(root, path);
      return found !== undefined && (found.stats.isFile() || found.stats.isDirectory());
    },
    readText: async (path) => {
      const found = await locate(root, path);
      if (found === undefined || found.stats.isSymbolicLink()) return { kind: 'missing' };
      if (found.stats.isDirectory()) return { kind: 'unreadable', reason: 'is a folder' };
      if (!found.stats.isFile()) return { kind: 'unreadable', reason: 'is not a regular file' };
      return readBounded(found.path, maxBytes);
    },
  };
}

async function locate(root: string, path: string): Promise<{ path: string; stats: Stats } | undefined> {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (path.startsWith('/') || path.includes('\0') || parts.includes('..')) return undefined;
  let current = root;
  let stats = await lstatIfThere(root);
  for (const part of parts) {
    if (stats?.isDirectory() !== true) return undefined;
    current = join(current, part);
    stats = await lstatIfThere(current);
  }
  return stats === undefined ? undefined : { path: current, stats };
}

async function lstatIfThere(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG') return undefined;
    throw error;
  }
}

async function readBounded(path: string, maxBytes: number): Promise<WorkspaceText> {
  // O_NONBLOCK: should it be a FIFO after all, opening it must not wait for a writer.
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size } = await handle.stat();
    if (size > maxBytes) return { kind: 'unreadable', reason: `is larger than ${maxBytes} bytes` };
    // A byte order mark is kept: it is a character like any other to Python's utf-8.
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    return { kind: 'text', text: decoder.decode(await handle.readFile()) };
  } finally {
    await handle.close();
  }
}
