import { open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf, InvalidInputError } from '../api/errors.ts';

/** A held lock on a run's folder. */
export interface RunLock {
  readonly release: () => Promise<void>;
}

/**
 * Takes the lock of a run's folder, so that two invocations never write the same run. A lock whose process is
 * gone (a kill -9, a power cut) is taken over.
 *
 * @throws InvalidInputError when a living process holds it
 */
export async function lockRun(root: string): Promise<RunLock> {
  const path = join(root, '.lock');
  for (;;) {
    try {
      const handle = await open(path, 'wx', 0o600);
      try {
        await handle.writeFile(`${process.pid} ${(await startTimeOf(process.pid)) ?? ''}\n`);
      } finally {
        await handle.close();
      }
      return { release: () => rm(path, { force: true }) };
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error;
    }
    const holder = await livingHolder(path);
    if (holder !== null) {
      throw new InvalidInputError({
        file: root,
        message: `process ${holder} is working on this run`,
        remedy: 'Wait for it, or end it; a finished run can be resumed with the same command.',
      });
    }
    await rm(path, { force: true });
  }
}

async function livingHolder(path: string): Promise<number | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
  const [pidText = '', startTime = ''] = text.trim().split(' ');
  const pid = Number(pidText);
  if (!Number.isInteger(pid) || pid <= 0) return null;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (errnoOf(error) === 'ESRCH') return null;
  }
  // A pid is used again after a while; the start time tells the two processes apart where the system shows it.
  const now = await startTimeOf(pid);
  return now === null || startTime === '' || now === startTime ? pid : null;
}

/** Start time of a process in clock ticks since boot (field 22 of /proc/PID/stat), or null where there is no /proc. */
async function startTimeOf(pid: number): Promise<string | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    const afterName = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return afterName[19] ?? null;
  } catch {
    return null;
  }
}
