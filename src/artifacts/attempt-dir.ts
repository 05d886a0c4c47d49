import { access, link, mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { attemptResultSchema } from '../api/attempt.ts';
import type { AttemptResult } from '../api/attempt.ts';
import { errnoOf, InfrastructureError } from '../api/errors.ts';
import { attemptLayout } from '../api/run-layout.ts';
import { readJsonRecord, syncFolder, writeJsonDurably } from '../files/durable.ts';

/**
 * Makes the directory of an attempt, which belongs to one harness for ever: a directory that is there already
 * is somebody else's, also when it is empty. The next attempt has the next number.
 *
 * @throws InfrastructureError `AttemptTaken`
 */
export async function createAttemptDir(attemptDir: string): Promise<void> {
  await mkdir(dirname(attemptDir), { recursive: true });
  try {
    await mkdir(attemptDir);
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
    throw new InfrastructureError('AttemptTaken', `${attemptDir} belongs to another attempt`, {
      cause: error,
    });
  }
  await syncFolder(dirname(attemptDir));
}

/**
 * Writes result.json, the last file of an attempt: from now on the attempt has ended. It is written once; a
 * second result is refused whatever it says.
 *
 * @throws InfrastructureError `AttemptEnded` when there is a result, `DiskFull` when there is no space
 */
export async function writeResultOnce(attemptDir: string, result: AttemptResult): Promise<void> {
  const { resultJson } = attemptLayout(attemptDir);
  const pending = join(dirname(attemptDir), `.result-${process.pid}-${result.attempt}.pending`);
  await writeJsonDurably(pending, attemptResultSchema.parse(result));
  try {
    await claimName(pending, resultJson);
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
    throw new InfrastructureError('AttemptEnded', `${resultJson} is written already`, { cause: error });
  } finally {
    await rm(pending, { force: true });
  }
  await syncFolder(attemptDir);
}

/** @returns the result, or undefined when the attempt has not ended */
export async function readResult(attemptDir: string): Promise<AttemptResult | undefined> {
  return readJsonRecord(attemptResultSchema, attemptLayout(attemptDir).resultJson);
}

/** Gives a file a name that must be free. A link, unlike a rename, refuses a name that is taken. */
async function claimName(file: string, name: string): Promise<void> {
  try {
    await link(file, name);
  } catch (error) {
    const code = errnoOf(error);
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS') throw error;
    // A file system without hard links; the directory has one writer, so looking first is enough.
    const taken = await access(name).then(
      () => true,
      () => false,
    );
    if (taken) throw Object.assign(new Error(`${name} exists`), { code: 'EEXIST' });
    await rename(file, name);
  }
}
