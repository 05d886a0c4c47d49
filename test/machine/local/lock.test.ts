import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockRun } from '../../../src/local/lock.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'lock-'));
});
afterEach(() => rm(root, { recursive: true }));

describe('the lock of a run', () => {
  it('is held until it is released', async () => {
    const lock = await lockRun(root);
    await expect(lockRun(root)).rejects.toThrow(`process ${process.pid} is working on this run`);
    await lock.release();
    await (await lockRun(root)).release();
    expect(await readdir(root)).toEqual([]);
  });

  it('is taken over from a process that is gone', async () => {
    const gone = spawnSync('true');
    await writeFile(join(root, '.lock'), JSON.stringify({ pid: gone.pid, startedAt: null }));
    await (await lockRun(root)).release();
  });

  it('is taken over when its pid belongs to another process by now', async () => {
    await writeFile(join(root, '.lock'), JSON.stringify({ pid: process.pid, startedAt: '1' }));
    await (await lockRun(root)).release();
  });

  it('is taken over when it was cut off before it was written', async () => {
    await writeFile(join(root, '.lock'), '');
    await (await lockRun(root)).release();
  });
});
