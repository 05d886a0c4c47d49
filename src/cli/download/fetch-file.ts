import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errnoOf, InfrastructureError, isDiskFull } from '../../api/errors.ts';
import { parentOf, type BytePath } from '../../artifacts/byte-path.ts';
import { sha256 } from '../../files/digest.ts';
import { linePath, type TreeFile } from '../../pods/reader/protocol.ts';
import { ReaderConnectionError, type ReaderClient } from './reader-client.ts';
import { localPath, type DownloadTarget } from './target.ts';

/** `kept`: it was there, the same. `vanished`: the run removed it meanwhile. `refused`: no such name can be here. */
export type FetchedFile = 'copied' | 'kept' | 'vanished' | 'refused';

const CORRUPT_TRIES = 3;
const CONNECTION_TRIES = 5;

/**
 * Brings one file to this machine: under a temporary name first, moved to its place once its digest is right.
 *
 * @throws InfrastructureError `TransferCorrupted`, `DiskFull`; ReaderConnectionError after some tries
 */
export async function fetchFile(
  reader: ReaderClient,
  target: DownloadTarget,
  listed: TreeFile,
  signal: AbortSignal,
): Promise<FetchedFile> {
  const path = linePath(listed);
  let file = listed;
  let corrupt = 0;
  let broken = 0;
  for (;;) {
    try {
      if (await isHere(localPath(target.root, path), file)) return 'kept';
      const outcome = await copyOnce(reader, target, path, file);
      if (outcome === 'copied') return outcome;
      // Vanished, or other bytes than listed: the run may have written it anew since.
      const now = await listedAgain(reader, path);
      if (now === undefined) return 'vanished';
      if (now.sha256 === file.sha256) corrupt += 1;
      if (corrupt >= CORRUPT_TRIES) {
        throw new InfrastructureError(
          'TransferCorrupted',
          `${file.path} arrived ${corrupt} times with other bytes than the volume holds; the same command goes on from here`,
        );
      }
      file = now;
    } catch (error) {
      signal.throwIfAborted();
      if (isNameRefused(error)) return 'refused';
      if (isDiskFull(error)) {
        throw new InfrastructureError('DiskFull', `no space left on the disk while writing ${file.path}`, {
          cause: error,
        });
      }
      broken += 1;
      if (!(error instanceof ReaderConnectionError) || broken >= CONNECTION_TRIES) throw error;
      await sleep(200 * 2 ** broken, undefined, { signal });
    }
  }
}

async function copyOnce(
  reader: ReaderClient,
  target: DownloadTarget,
  path: BytePath,
  file: TreeFile,
): Promise<'copied' | 'vanished' | 'corrupt'> {
  // A part of other contents has another name, so it is never continued with bytes of these.
  const part = join(
    target.parts,
    `${sha256(Buffer.from(path, 'latin1')).slice(0, 32)}-${file.sha256.slice(0, 16)}`,
  );
  const hash = createHash('sha256');
  let length = await hashInto(hash, part);
  if (length > file.bytes) {
    await rm(part);
    return copyOnce(reader, target, path, file);
  }
  const handle = await open(part, 'a', 0o600);
  try {
    if (length < file.bytes) {
      const bytes = await reader.file(path, length, file.bytes - 1);
      if (bytes === null) {
        await rm(part);
        return 'vanished';
      }
      for await (const chunk of bytes) {
        await handle.writeFile(chunk);
        hash.update(chunk);
        length += chunk.length;
      }
    }
  } finally {
    await handle.close();
  }
  if (length !== file.bytes || hash.digest('hex') !== file.sha256) {
    await rm(part, { force: true });
    return 'corrupt';
  }
  await chmod(part, (file.mode & 0o100) === 0 ? 0o600 : 0o700);
  await mkdir(localPath(target.root, parentOf(path)), { recursive: true, mode: 0o700 });
  await rename(part, localPath(target.root, path));
  return 'copied';
}

async function isHere(path: Buffer, file: TreeFile): Promise<boolean> {
  const stats = await lstat(path).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return null;
    throw error;
  });
  if (stats === null || !stats.isFile() || stats.size !== file.bytes) return false;
  const hash = createHash('sha256');
  await hashInto(hash, path);
  return hash.digest('hex') === file.sha256;
}

/** Hashes what a file holds so far and returns its length; 0 where there is none. */
async function hashInto(hash: ReturnType<typeof createHash>, path: string | Buffer): Promise<number> {
  let length = 0;
  try {
    for await (const chunk of createReadStream(path)) {
      hash.update(chunk as Buffer);
      length += (chunk as Buffer).length;
    }
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
  return length;
}

async function listedAgain(reader: ReaderClient, path: BytePath): Promise<TreeFile | undefined> {
  for await (const line of reader.tree(path)) {
    if ('sha256' in line && linePath(line) === path) return line;
  }
  return undefined;
}

function isNameRefused(error: unknown): boolean {
  const code = errnoOf(error);
  return code === 'ENAMETOOLONG' || code === 'EILSEQ' || code === 'EINVAL';
}
