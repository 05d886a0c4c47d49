import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DevclusterError } from '../errors.ts';

/**
 * Does something while no other process does it under the same lock file. The lock is held by a `flock` process for as
 * long as its standard input is open, so it ends with this process however that ends.
 */
export async function withLock<Value>(
  path: string,
  work: () => Promise<Value>,
  onWait?: () => void,
): Promise<Value> {
  await mkdir(dirname(path), { recursive: true });
  const holder = spawn('flock', [path, 'sh', '-c', 'echo held; cat'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = onWait === undefined ? undefined : setTimeout(onWait, 1000);
  try {
    await new Promise<void>((resolve, reject) => {
      holder.stdout.once('data', () => resolve());
      holder.once('error', (error) => reject(error));
      holder.once('exit', (code) =>
        reject(new DevclusterError(`the lock ${path} cannot be taken (flock: ${code})`)),
      );
    });
    clearTimeout(waiting);
    return await work();
  } finally {
    clearTimeout(waiting);
    holder.removeAllListeners('exit');
    holder.stdin.end();
  }
}
