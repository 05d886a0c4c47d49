import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { measureUsage } from '../../../src/artifacts/measure-usage.ts';
import { removeTree } from '../../../src/artifacts/remove-tree.ts';
import { readUntrustedFile } from '../../../src/artifacts/untrusted-file.ts';
import { isLinux, useScratch, workspaceIn } from './scratch.ts';

const scratch = useScratch();

describe('removing a folder that an agent wrote to', () => {
  it('removes links and leaves what they point to', async () => {
    const { source, hidden } = workspaceIn(scratch());
    symlinkSync(hidden, join(source, 'folder'));
    symlinkSync(join(hidden, 'answer.txt'), join(source, 'file'));
    await removeTree(source);
    expect(existsSync(source)).toBe(false);
    expect(readFileSync(join(hidden, 'answer.txt'), 'utf8')).toBe('the answer key');
  });

  it('removes a link in the place of the folder itself, and is content when there is nothing', async () => {
    const { root, hidden } = workspaceIn(scratch());
    const link = join(root, 'link');
    symlinkSync(hidden, link);
    await removeTree(link);
    expect(existsSync(link)).toBe(false);
    expect(existsSync(join(hidden, 'answer.txt'))).toBe(true);
    await removeTree(link);
  });

  it('removes trees deeper than any path, wide ones, closed ones and names that are taken', async () => {
    const { source } = workspaceIn(scratch());
    const name = 'd'.repeat(200);
    execFileSync('sh', ['-c', `for i in $(seq 60); do mkdir ${name} && cd -P ${name}; done; touch leaf`], {
      cwd: source,
    });
    mkdirSync(join(source, '.removed-0/.removed-1/x'), { recursive: true });
    mkdirSync(join(source, 'closed/inner'), { recursive: true });
    writeFileSync(join(source, 'closed/inner/file'), '');
    chmodSync(join(source, 'closed/inner'), 0);
    chmodSync(join(source, 'closed'), 0);
    await removeTree(source);
    expect(existsSync(source)).toBe(false);
  });
});

describe('measuring the disk use of an agent', () => {
  it('counts what is allocated: no holes, each file once whatever its names, and no link followed', async () => {
    const { source, hidden } = workspaceIn(scratch());
    const sparse = openSync(join(source, 'sparse'), 'w');
    ftruncateSync(sparse, 1024 ** 3);
    closeSync(sparse);
    writeFileSync(join(source, 'file'), Buffer.alloc(100_000, 1));
    linkSync(join(source, 'file'), join(source, 'again'));
    symlinkSync(hidden, join(source, 'link'));
    const usage = await measureUsage(source);
    expect(usage).toMatchObject({ entries: 4, exceeded: null, complete: true });
    expect(usage.bytes).toBeGreaterThanOrEqual(statSync(join(source, 'file')).blocks * 512);
    expect(usage.bytes).toBeLessThan(1_000_000);
  });

  it('stops at the first bound that is passed', async () => {
    const { source } = workspaceIn(scratch());
    for (let n = 0; n < 50; n += 1) writeFileSync(join(source, `f${n}`), Buffer.alloc(10_000, 1));
    expect(await measureUsage(source, { stopAfter: { entries: 10 } })).toMatchObject({
      entries: 11,
      exceeded: 'entries',
    });
    expect(await measureUsage(source, { stopAfter: { bytes: 50_000 } })).toMatchObject({ exceeded: 'bytes' });
    expect(await measureUsage(source, { stopAfter: { bytes: 5_000_000, entries: 50 } })).toMatchObject({
      exceeded: null,
    });
  });

  it('holds a tree that is too deep to look into for a bound that is passed', async () => {
    const { source } = workspaceIn(scratch());
    execFileSync('sh', ['-c', 'for i in $(seq 300); do mkdir d && cd -P d; done'], { cwd: source });
    expect(await measureUsage(source)).toMatchObject({ exceeded: 'depth' });
  });

  it('says that it is not complete when it was stopped or the folder is gone', async () => {
    const { root, source } = workspaceIn(scratch());
    writeFileSync(join(source, 'f'), '');
    expect(await measureUsage(source, { signal: AbortSignal.abort() })).toMatchObject({ complete: false });
    expect(await measureUsage(join(root, 'gone'))).toEqual({
      bytes: 0,
      entries: 0,
      exceeded: null,
      complete: false,
    });
  });
});

describe('reading one file of an agent', () => {
  it('reads a regular file and nothing that is reached by a link', () => {
    const { source, hidden } = workspaceIn(scratch());
    mkdirSync(join(source, 'a'));
    writeFileSync(join(source, 'a/file'), 'text');
    symlinkSync(hidden, join(source, 'folder'));
    symlinkSync(join(hidden, 'answer.txt'), join(source, 'file'));
    const read = (path: string, most = 10) => readUntrustedFile(source, path, most);
    expect(read('a/file')).toMatchObject({ kind: 'file', bytes: Buffer.from('text'), size: 4 });
    expect(read('a/nothing').kind).toBe('missing');
    expect(read('a/file', 3).kind).toBe('refused');
    for (const path of [
      'folder/answer.txt',
      'file',
      'a',
      '../hidden/answer.txt',
      'a//file',
      '/etc/passwd',
      '',
    ]) {
      expect([path, read(path).kind]).toEqual([path, 'refused']);
    }
  });

  it.skipIf(!isLinux)('does not wait for a FIFO (Linux only)', () => {
    const { source } = workspaceIn(scratch());
    execFileSync('mkfifo', [join(source, 'fifo')]);
    expect(readUntrustedFile(source, 'fifo', 10).kind).toBe('refused');
  });
});
