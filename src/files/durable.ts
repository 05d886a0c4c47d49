import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { z } from 'zod';
import { errnoOf, InfrastructureError, InvalidInputError, isDiskFull, messageOf } from '../api/errors.ts';

let temporaryNumber = 0;

/**
 * Writes a file so that a reader sees the old bytes or the new ones, never a part, also after a power cut:
 * temporary name in the same folder, fsync, rename, fsync of the folder. Makes missing parent folders.
 *
 * @throws InfrastructureError with reason `DiskFull` when there is no space; other system errors as they are
 */
export async function writeFileDurably(path: string, data: string | Uint8Array, mode = 0o644): Promise<void> {
  const folder = dirname(path);
  temporaryNumber += 1;
  const temporary = join(folder, `.${basename(path)}.${process.pid}-${temporaryNumber}.tmp`);
  try {
    await mkdir(folder, { recursive: true });
    const handle = await open(temporary, 'wx', mode);
    try {
      await handle.writeFile(data);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
    await syncFolder(folder);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw asInfrastructureError(error, path);
  }
}

/** `writeFileDurably` of a value as indented JSON with a final newline. */
export async function writeJsonDurably(path: string, value: unknown, mode = 0o644): Promise<void> {
  await writeFileDurably(path, `${JSON.stringify(value, null, 2)}\n`, mode);
}

/**
 * Reads a JSON record of the project and validates it.
 *
 * @returns the record, or undefined when the file does not exist
 * @throws InvalidInputError naming file and field when the file is not what it should be
 */
export async function readJsonRecord<Schema extends z.ZodType>(
  schema: Schema,
  path: string,
): Promise<z.output<Schema> | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    // A parent that is a file holds no record either.
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InvalidInputError({ file: path, message: `is not JSON (${messageOf(error)})` });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [first, ...rest] = parsed.error.issues.map((issue) => ({
    file: path,
    field: issue.path.join('.'),
    message: issue.message,
  }));
  throw new InvalidInputError(first === undefined ? { file: path, message: 'is invalid' } : [first, ...rest]);
}

/** Flushes a folder's entries to the disk; file systems that cannot do it are left as they are. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } catch (error) {
    const code = errnoOf(error);
    if (code !== 'EINVAL' && code !== 'EPERM' && code !== 'ENOTSUP') throw error;
  } finally {
    await handle.close();
  }
}

function asInfrastructureError(error: unknown, path: string): unknown {
  if (!isDiskFull(error)) return error;
  return new InfrastructureError('DiskFull', `no space left on the disk while writing ${path}`, {
    cause: error,
  });
}
