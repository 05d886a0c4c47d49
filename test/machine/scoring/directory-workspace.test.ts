import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { directoryWorkspace } from '../../../src/scoring/directory-workspace.ts';

describe('directoryWorkspace', () => {
  let folder: string;
  let root: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'clawbench-workspace-'));
    root = join(folder, 'workspace');
    await mkdir(join(root, 'data'), { recursive: true });
    await writeFile(join(folder, 'secret.txt'), 'secret');
    await writeFile(join(root, 'data', 'a.txt'), 'ä\r\n');
  });

  afterEach(async () => {
    await rm(folder, { recursive: true });
  });

  it('reads regular files and knows folders', async () => {
    const workspace = directoryWorkspace(root);
    expect(await workspace.readText('data/a.txt')).toEqual({ kind: 'text', text: 'ä\r\n' });
    expect(await workspace.readText('./data//a.txt')).toEqual({ kind: 'text', text: 'ä\r\n' });
    expect(await workspace.exists('data')).toBe(true);
    expect(await workspace.readText('data')).toEqual({ kind: 'unreadable', reason: 'is a folder' });
    expect(await workspace.exists('data/b.txt')).toBe(false);
    expect(await workspace.readText('data/a.txt/b')).toEqual({ kind: 'missing' });
    expect(await workspace.exists('x'.repeat(300))).toBe(false);
  });

  it('never leaves the workspace, neither by path nor by link', async () => {
    await symlink(join(folder, 'secret.txt'), join(root, 'link.txt'));
    await symlink(folder, join(root, 'out'));
    await symlink('data', join(root, 'inside'));
    const workspace = directoryWorkspace(root);
    for (const path of [
      'link.txt',
      'out/secret.txt',
      'inside/a.txt',
      '../secret.txt',
      'data/../../secret.txt',
      join(folder, 'secret.txt'),
      'a\0b',
    ]) {
      expect([path, await workspace.exists(path)]).toEqual([path, false]);
      expect([path, await workspace.readText(path)]).toEqual([path, { kind: 'missing' }]);
    }
  });

  it('does not wait at a FIFO, and does not read a file beyond its bound', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')]);
    await writeFile(join(root, 'large'), 'x'.repeat(11));
    const workspace = directoryWorkspace(root, 10);
    expect(await workspace.readText('pipe')).toEqual({ kind: 'unreadable', reason: 'is not a regular file' });
    expect(await workspace.exists('pipe')).toBe(false);
    expect(await workspace.readText('large')).toEqual({
      kind: 'unreadable',
      reason: 'is larger than 10 bytes',
    });
    expect(await workspace.exists('large')).toBe(true);
  });

  it('reads bytes that are not UTF-8 as replacement characters, and keeps a byte order mark', async () => {
    await writeFile(join(root, 'bytes'), Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xff]));
    expect(await directoryWorkspace(root).readText('bytes')).toEqual({ kind: 'text', text: '\ufeffa\ufffd' });
  });
});
