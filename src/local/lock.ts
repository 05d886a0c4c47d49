import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { errnoOf, InvalidInputError } from '../api/errors.ts';
import { isAlive, markOf } from './executor/processes.ts';

/** A held lock on a run's folder. */
export interface RunLock {
  readonly release: () => Promise<void>;
}

const holderSchema = z.object({ pid: z.int().positive(), startedAt: z.string().nullable() });

/**
 * Takes the lock of a run's folder, so that two invocations never write the same run. A lock whose process is
 * gone (a kill -9, a power cut) is taken over.
 *
 * @throws InvalidInputError when a living process holds it
 */
export async function lockRun(root: string): Promise<RunLock> {
  const path = join(root, '.lock');
  const own = join(root, `.lock.${process.pid}.tmp`);
  // The lock appears with its content: nobody can find it empty and take it for a stale one.
  await writeFile(own, JSON.stringify(markOf(process.pid)), { mode: 0o600 });
  try {
    for (;;) {
      try {
        await link(own, path);
        return { release: () => rm(path, { force: true }) };
      } catch (error) {
        if (errnoOf(error) !== 'EEXIST') throw error;
      }
      const holder = await livingHolder(path);
      if (holder !== null) {
        throw new InvalidInputError({
          file: root,
          message: `process ${holder} is working on this run`,
          remedy: 'Wait for it, or end it; the same command then goes on with the run.',
        });
      }
      // Two invocations may find the same stale lock: only one of them can move it away.
      await rename(path, `${own}.stale`).catch((error: unknown) => {
        if (errnoOf(error) !== 'ENOENT') throw error;
      });
      await rm(`${own}.stale`, { force: true });
    }
  } finally {
    await rm(own, { force: true });
  }
}

/** The process that holds a lock and lives, or null. */
async function livingHolder(path: string): Promise<number | null> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || error instanceof SyntaxError) return null;
    throw error;
  }
  const holder = holderSchema.safeParse(value);
  return holder.success && isAlive(holder.data) ? holder.data.pid : null;
}
