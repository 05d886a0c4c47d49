import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { collectTree } from '../../../src/artifacts/collect-tree.ts';
import { sha256 } from '../../../src/files/digest.ts';
import { isLinux, isRoot, MIB, reasons, useScratch, workspaceIn } from './scratch.ts';

const scratch = useScratch();
const setUp = () => workspaceIn(scratch());

describe('collecting while something works against it', () => {
  it('never shows a hidden file to a target while folders are swapped for links under its hands', async () => {
    const { root, source, hidden } = setUp();
    writeFileSync(join(hidden, 'in.txt'), 'the answer key');
    mkdirSync(join(source, 'd'));
    writeFileSync(join(source, 'd/in.txt'), 'harmless, 14 b');
    // A process that does nothing but put a link to the hidden folder in the place of d, and d back.
    const swapper = spawn(
      process.execPath,
      [
        '-e',
        `const fs = require('node:fs'); process.chdir(${JSON.stringify(source)});
         fs.symlinkSync(${JSON.stringify(hidden)}, 'link');
         console.log('ready');
         for (;;) { fs.renameSync('d', 'aside'); fs.renameSync('link', 'd'); fs.renameSync('d', 'link'); fs.renameSync('aside', 'd'); }`,
      ],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    );
    try {
      await once(swapper.stdout, 'data');
      let seen = 0;
      for (let round = 0; round < 150; round += 1) {
        const target = join(root, `collected-${round}`);
        const tree = await collectTree({ source, target });
        for (const { sha256: digest } of tree.files) {
          expect(digest).toBe(sha256('harmless, 14 b'));
          seen += 1;
        }
      }
      // The race was run, not avoided: at times the file was there.
      expect(seen).toBeGreaterThan(0);
    } finally {
      swapper.kill('SIGKILL');
      await once(swapper, 'close');
    }
  });

  it('leaves out a file that grows while it is read, and leaves nothing of it behind', async () => {
    const { root, source } = setUp();
    const file = join(source, 'log');
    writeFileSync(file, 'x'.repeat(MIB));
    const writer = spawn(
      process.execPath,
      [
        '-e',
        `const fs = require('node:fs'); console.log('ready'); for (;;) fs.appendFileSync(${JSON.stringify(file)}, 'x');`,
      ],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    );
    try {
      await once(writer.stdout, 'data');
      let left = 0;
      for (let round = 0; round < 20; round += 1) {
        const target = join(root, `collected-${round}`);
        const tree = await collectTree({ source, target });
        if (tree.files.length > 0) {
          expect(sha256(readFileSync(join(target, 'log')))).toBe(tree.files[0]!.sha256);
        } else {
          expect(reasons(tree)).toEqual({ log: 'changed_while_reading' });
          expect(readdirSync(target)).toEqual([]);
          left += 1;
        }
      }
      expect(left).toBeGreaterThan(0);
    } finally {
      writer.kill('SIGKILL');
      await once(writer, 'close');
    }
  });

  it.skipIf(!isRoot || !isLinux)(
    'says DiskFull when the target is full (needs root to mount one)',
    async () => {
      const { root, source } = setUp();
      writeFileSync(join(source, 'file'), 'x'.repeat(2 * MIB));
      const small = join(root, 'small');
      mkdirSync(small);
      try {
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', small], { stdio: 'ignore' });
      } catch {
        // A container may forbid mounts even to root.
        return;
      }
      try {
        await expect(collectTree({ source, target: join(small, 'collected') })).rejects.toMatchObject({
          name: 'InfrastructureError',
          reason: 'DiskFull',
        });
        expect(readdirSync(join(small, 'collected'))).toEqual([]);
      } finally {
        execFileSync('umount', [small]);
      }
    },
  );

  it.skipIf(!isRoot || !isLinux)(
    'does not look into what is mounted inside the folder (needs root to mount)',
    async () => {
      const { source, target } = setUp();
      const inside = join(source, 'inside');
      mkdirSync(inside);
      try {
        execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', inside], { stdio: 'ignore' });
      } catch {
        return;
      }
      try {
        writeFileSync(join(inside, 'file'), 'x');
        expect(reasons(await collectTree({ source, target }))).toEqual({ inside: 'other_filesystem' });
      } finally {
        execFileSync('umount', [inside]);
      }
    },
  );
});
