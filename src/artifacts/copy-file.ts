import { closeSync, fstatSync, ftruncateSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { errnoOf, InfrastructureError, isDiskFull, messageOf } from '../api/errors.ts';
import type { OmissionReason } from '../api/manifest.ts';
import type { FolderHandle } from './folder-handle.ts';
import { reasonOfFailure } from './scan.ts';
import type { ScannedEntry } from './scan.ts';
import type { TimeSlices } from './time-slices.ts';

const CHUNK_BYTES = 256 * 1024;
const ZEROS = Buffer.alloc(CHUNK_BYTES);

/** Memory of one collection; files are read one after the other. */
export function copyBuffer(): Buffer {
  return Buffer.allocUnsafe(CHUNK_BYTES);
}

export type CopyResult = { readonly sha256: string } | { readonly omitted: OmissionReason } | 'cut_short';

/**
 * Reads a file once, hashing it and, where there is a target, writing it. The file must be the one that was
 * scanned: same device, inode, size and time, before and after. A file that is not is left out, and what was
 * written of it is removed. Holes of a sparse file stay holes.
 *
 * @param target exact bytes of the file to make, which must not exist; null hashes only
 * @throws InfrastructureError with reason `DiskFull` or `ArtifactWriteFailed` when the target cannot be written
 */
export async function copyFile(
  folder: FolderHandle,
  name: string,
  expected: ScannedEntry,
  target: Buffer | null,
  buffer: Buffer,
  slices: TimeSlices,
): Promise<CopyResult> {
  let source: number;
  try {
    source = folder.openFile(name);
  } catch (error) {
    return { omitted: reasonOfFailure(error) };
  }
  try {
    if (!isStill(expected, source)) return { omitted: 'changed_while_reading' };
    let output: Output | null;
    try {
      output = target === null ? null : new Output(target, expected);
    } catch (error) {
      if (isNameRefused(error)) return { omitted: 'name_too_long' };
      throw error;
    }
    let result: CopyResult | undefined;
    try {
      result = await transfer(source, expected, output, buffer, slices);
    } finally {
      output?.finish(result !== undefined && typeof result === 'object' && 'sha256' in result);
    }
    return result;
  } finally {
    closeSync(source);
  }
}

async function transfer(
  source: number,
  expected: ScannedEntry,
  output: Output | null,
  buffer: Buffer,
  slices: TimeSlices,
): Promise<CopyResult> {
  const hash = createHash('sha256');
  let position = 0;
  while (position < expected.bytes) {
    if (position > 0) {
      await slices.breathe();
      if (slices.isStopped()) return 'cut_short';
    }
    let length: number;
    try {
      length = readSync(source, buffer, 0, Math.min(buffer.length, expected.bytes - position), position);
    } catch {
      return { omitted: 'unreadable' };
    }
    if (length === 0) break;
    const chunk = buffer.subarray(0, length);
    hash.update(chunk);
    output?.write(chunk, position);
    position += length;
  }
  if (position !== expected.bytes || !isStill(expected, source)) return { omitted: 'changed_while_reading' };
  return { sha256: hash.digest('hex') };
}

function isStill(expected: ScannedEntry, fd: number): boolean {
  const now = fstatSync(fd);
  return (
    now.isFile() &&
    now.dev === expected.dev &&
    now.ino === expected.ino &&
    now.size === expected.bytes &&
    now.mtimeMs === expected.mtimeMs
  );
}

/** The copy being made. Its permissions are ours: only whether the owner may execute it is taken over. */
class Output {
  readonly #path: Buffer;
  readonly #entry: ScannedEntry;
  readonly #fd: number;

  constructor(path: Buffer, entry: ScannedEntry) {
    this.#path = path;
    this.#entry = entry;
    this.#fd = writing(path, () => openSync(path, 'wx', (entry.mode & 0o100) === 0 ? 0o666 : 0o777));
  }

  write(chunk: Buffer, position: number): void {
    if (this.#entry.sparse && chunk.equals(ZEROS.subarray(0, chunk.length))) return;
    writing(this.#path, () => {
      let done = 0;
      while (done < chunk.length) {
        done += writeSync(this.#fd, chunk, done, chunk.length - done, position + done);
      }
    });
  }

  /** Closes the file; an incomplete one is removed. */
  finish(complete: boolean): void {
    try {
      if (complete && this.#entry.sparse) {
        writing(this.#path, () => ftruncateSync(this.#fd, this.#entry.bytes));
      }
    } finally {
      closeSync(this.#fd);
      if (!complete) unlinkSync(this.#path);
    }
  }
}

/**
 * Whether a write failed because the disk that keeps the copy cannot hold such a name: too long together with our
 * own folders, or bytes that it does not take. An agent can choose names, so that is no fault of the machine.
 */
export function isNameRefused(error: unknown): boolean {
  const code = error instanceof InfrastructureError ? errnoOf(error.cause) : undefined;
  return code === 'ENAMETOOLONG' || code === 'EILSEQ' || code === 'EINVAL';
}

/** Runs a write to our own side; its failures are the machine's, never the agent's. */
export function writing<Result>(path: Buffer, write: () => Result): Result {
  try {
    return write();
  } catch (error) {
    const full = isDiskFull(error);
    throw new InfrastructureError(
      full ? 'DiskFull' : 'ArtifactWriteFailed',
      full
        ? `no space left on the disk while writing ${path.toString()}`
        : `cannot write ${path.toString()}: ${messageOf(error)}`,
      { cause: error },
    );
  }
}
