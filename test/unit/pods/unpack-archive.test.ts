import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { unpackArchive, type ArchiveBounds } from '../../../src/pods/prepare/unpack-archive.ts';

const root = mkdtempSync(join(tmpdir(), 'clawbench-archive-'));
afterAll(() => rmSync(root, { recursive: true }));
let target: string;
beforeEach(() => {
  target = mkdtempSync(join(root, 'target-'));
});

interface Entry {
  name: string;
  type?: 'symlink' | 'link' | 'directory' | 'fifo';
  mode?: number;
  text?: string;
  linkname?: string;
}
const BOUNDS: ArchiveBounds = { entries: 10, bytes: 1000, fileBytes: 500 };

async function archive(entries: readonly Entry[], compressed = true): Promise<string> {
  const tar = pack();
  for (const { text, ...header } of entries) tar.entry(header, text ?? '');
  tar.finalize();
  const bytes = await buffer(tar);
  const path = join(target, '..', 'suite.tar.gz');
  writeFileSync(path, compressed ? gzipSync(bytes) : bytes);
  return path;
}

const unpack = async (entries: readonly Entry[], compressed?: boolean) =>
  unpackArchive(await archive(entries, compressed), target, BOUNDS);

describe('an archive of a suite', () => {
  it.each([true, false])('is unpacked, compressed: %s', async (compressed) => {
    const folder = await unpack(
      [
        { name: './', type: 'directory' },
        { name: './scenarios/', type: 'directory' },
        { name: './scenarios/a.yaml', text: 'id: a' },
        { name: 'run.sh', text: 'exit', mode: 0o4755 },
      ],
      compressed,
    );
    expect(folder).toBe(target);
    expect(readFileSync(join(folder, 'scenarios/a.yaml'), 'utf8')).toBe('id: a');
    expect(statSync(join(folder, 'run.sh')).mode & 0o7111).toBe(0o111);
  });

  it('may be one of the folder or of what is in it', async () => {
    expect(await unpack([{ name: 'my-suite/scenarios/a.yaml', text: 'id: a' }])).toBe(
      join(target, 'my-suite'),
    );
    rmSync(join(target, 'my-suite'), { recursive: true });
    expect(await unpack([{ name: 'scenarios/a.yaml', text: 'id: a' }])).toBe(target);
  });

  it.each<[string, Entry[], string]>([
    ['a link', [{ name: 'a', type: 'symlink', linkname: '/etc/passwd' }], 'a: is a symlink'],
    ['a hard link', [{ name: 'a', type: 'link', linkname: 'b' }], 'a: is a link'],
    ['a pipe', [{ name: 'a', type: 'fifo' }], 'a: is a fifo'],
    ['a name that leads out', [{ name: 'a/../../b', text: 'x' }], 'leads out of the archive'],
    ['an absolute name', [{ name: '/etc/x', text: 'x' }], 'leads out of the archive'],
    ['a large file', [{ name: 'a', text: 'x'.repeat(501) }], 'a: is larger than 500 bytes'],
    ['much in all', [1, 2, 3].map((n) => ({ name: `a${n}`, text: 'x'.repeat(400) })), 'more than 1000 bytes'],
    ['many entries', Array.from({ length: 11 }, (_, n) => ({ name: `a${n}` })), 'more than 10 entries'],
  ])('with %s is refused', async (_what, entries, message) => {
    await expect(unpack(entries)).rejects.toThrow(message);
    expect(existsSync(join(target, '..', 'b'))).toBe(false);
  });

  it('that unpacks to very much is not unpacked to its end', async () => {
    const path = join(root, 'bomb.tar.gz');
    writeFileSync(path, gzipSync(Buffer.alloc(64 * 1024 ** 2)));
    await expect(unpackArchive(path, target, BOUNDS)).rejects.toThrow(/more than 1000 bytes|no tar archive/);
  });

  it('that is none is named', async () => {
    const path = join(root, 'text.tar.gz');
    writeFileSync(path, 'this is no archive, and it is longer than a block of one: '.repeat(20));
    await expect(unpackArchive(path, target, BOUNDS)).rejects.toThrow('is no tar archive');
    writeFileSync(path, gzipSync(Buffer.alloc(5000, 'x')).subarray(0, 20));
    await expect(unpackArchive(path, target, BOUNDS)).rejects.toThrow('is no tar archive');
  });
});
