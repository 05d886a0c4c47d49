import { chmod, mkdir, open } from 'node:fs/promises';
import { constants } from 'node:fs';
import { dirname, join } from 'node:path';
import { InfrastructureError, isDiskFull } from '../api/errors.ts';
import { sha256 } from '../files/digest.ts';
import { syncFolder } from '../files/durable.ts';
import type { SuiteFile } from './tree.ts';

const WRITERS = 8;

/**
 * Writes files and folders below `root`, flushed to the disk. Modes are set explicitly: the process's umask must
 * not show in a frozen suite.
 *
 * @throws InfrastructureError with reason `DiskFull`, or `SuiteChanged` when a file is no longer what was hashed
 */
export async function writeTree(
  root: string,
  files: readonly SuiteFile[],
  folders: readonly string[],
): Promise<void> {
  try {
    const all = withParents([...folders, ...files.map(({ path }) => dirname(path))]);
    await chmod(root, 0o755);
    for (const folder of all) {
      await mkdir(join(root, folder));
      await chmod(join(root, folder), 0o755);
    }
    const queue = files.values();
    await Promise.all(
      Array.from({ length: WRITERS }, async () => {
        // One iterator shared by all writers: each takes the next file when it is free.
        for (const file of queue) await writeFile(join(root, file.path), file);
      }),
    );
    for (const folder of ['.', ...all]) await syncFolder(join(root, folder));
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    throw new InfrastructureError('DiskFull', `no space left on the disk while writing ${root}`, {
      cause: error,
    });
  }
}

/** Parents before children, each once. */
function withParents(folders: readonly string[]): string[] {
  const all = new Set<string>();
  for (const path of folders)
    for (let folder = path; folder !== '.'; folder = dirname(folder)) all.add(folder);
  return [...all].sort();
}

async function writeFile(target: string, file: SuiteFile): Promise<void> {
  const bytes = await bytesOf(file);
  if (sha256(bytes) !== file.sha256) {
    throw new InfrastructureError(
      'SuiteChanged',
      `${file.path} was changed while the suite was frozen; freeze it again`,
    );
  }
  const handle = await open(target, 'wx', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.chmod(file.executable ? 0o755 : 0o644);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function bytesOf(file: SuiteFile): Promise<Uint8Array> {
  if (typeof file.from !== 'string') return file.from;
  const handle = await open(file.from, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}
