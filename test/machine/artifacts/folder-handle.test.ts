import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FolderHandle } from '../../../src/artifacts/folder-handle.ts';
import { isLinux, useScratch, workspaceIn } from './scratch.ts';

const scratch = useScratch();

/** A folder `d` with a file, which `swap` replaces by a link to the hidden folder with a file of that name. */
function swappable() {
  const { source, hidden } = workspaceIn(scratch());
  mkdirSync(join(source, 'd/e'), { recursive: true });
  writeFileSync(join(source, 'd/answer.txt'), 'harmless');
  mkdirSync(join(hidden, 'e'));
  const swap = () => {
    renameSync(join(source, 'd'), join(source, 'aside'));
    symlinkSync(hidden, join(source, 'd'));
  };
  return { source, hidden, swap };
}

describe('a folder held by a handle', () => {
  it('does not descend through a folder that was replaced by a link after it was looked at', () => {
    const { source, swap } = swappable();
    using root = FolderHandle.open(source);
    expect(root.lstat('d').isDirectory()).toBe(true);
    swap();
    expect(() => root.descend('d')).toThrow(/ENOTDIR|ELOOP/);
    expect(() => root.descend('d/e')).toThrow(/ENOTDIR|ELOOP/);
  });

  it.skipIf(!isLinux)('stays with the folder it holds when another takes its name (needs /proc)', () => {
    const { source, swap } = swappable();
    using root = FolderHandle.open(source);
    using folder = root.descend('d');
    swap();
    expect(folder.names()).toEqual(['answer.txt', 'e']);
    const fd = folder.openFile('answer.txt');
    expect(readFileSync(fd, 'utf8')).toBe('harmless');
    closeSync(fd);
    expect(() => root.openFile('d')).toThrow(/ELOOP/);
  });

  it('opens no file that is a link, and does not wait for a FIFO', () => {
    const { source, hidden } = swappable();
    symlinkSync(join(hidden, 'answer.txt'), join(source, 'link'));
    execFileSync('mkfifo', [join(source, 'fifo')]);
    using root = FolderHandle.open(source);
    expect(() => root.openFile('link')).toThrow(/ELOOP/);
    closeSync(root.openFile('fifo'));
  });
});
