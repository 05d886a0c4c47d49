import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { takeBaseline } from '../../../src/artifacts/baseline.ts';
import { collectTree } from '../../../src/artifacts/collect-tree.ts';
import { sha256 } from '../../../src/files/digest.ts';
import { isLinux, isRoot, MIB, reasons, taken, useScratch, workspaceIn } from './scratch.ts';

const scratch = useScratch();

const setUp = () => workspaceIn(scratch());

describe('collecting a folder that an agent wrote to', () => {
  it('copies regular files and folders with their contents, digests and executable bits', async () => {
    const { source, target } = setUp();
    mkdirSync(join(source, 'a/empty'), { recursive: true });
    writeFileSync(join(source, 'a/run.sh'), 'echo 1', { mode: 0o755 });
    writeFileSync(join(source, 'b.txt'), '');
    const tree = await collectTree({ source, target, recordedAs: 'workspace' });
    expect(tree).toMatchObject({ status: 'complete', omitted: [], deleted: [], totalBytes: 6 });
    expect(tree.files).toEqual([
      { path: 'workspace/a/run.sh', bytes: 6, mode: 0o755, sha256: sha256('echo 1'), origin: 'agent' },
      {
        path: 'workspace/b.txt',
        bytes: 0,
        mode: expect.any(Number) as number,
        sha256: sha256(''),
        origin: 'agent',
      },
    ]);
    expect(readFileSync(join(target, 'a/run.sh'), 'utf8')).toBe('echo 1');
    expect(statSync(join(target, 'a/run.sh')).mode & 0o100).toBe(0o100);
    expect(existsSync(join(target, 'a/empty'))).toBe(true);
  });

  it('follows no link, whether it points to a file, a folder, itself or nothing', async () => {
    const { source, target, hidden } = setUp();
    symlinkSync(join(hidden, 'answer.txt'), join(source, 'file'));
    symlinkSync(hidden, join(source, 'folder'));
    symlinkSync('self', join(source, 'self'));
    symlinkSync('/nowhere', join(source, 'dangling'));
    const tree = await collectTree({ source, target });
    expect(tree.files).toEqual([]);
    expect(reasons(tree)).toEqual({
      dangling: 'symlink',
      file: 'symlink',
      folder: 'symlink',
      self: 'symlink',
    });
    expect(readdirSync(target)).toEqual([]);
  });

  it('takes nothing where the folder itself was replaced by a link to a hidden one', async () => {
    const { source, target, hidden } = setUp();
    rmSync(source, { recursive: true });
    symlinkSync(hidden, source);
    const tree = await collectTree({ source, target });
    expect(tree).toMatchObject({ status: 'source_missing', files: [], omitted: [] });
    expect(readdirSync(target)).toEqual([]);
  });

  it('says that the folder is gone, or is a file, without an exception, and that its files are', async () => {
    const { root, source } = setUp();
    writeFileSync(join(source, 'input.csv'), '1');
    const baseline = await takeBaseline(source);
    rmSync(source, { recursive: true });
    const gone = await collectTree({ source, target: join(root, 'c1'), baseline });
    expect(gone).toMatchObject({ status: 'source_missing', deleted: ['input.csv'] });
    writeFileSync(source, 'a file');
    const file = await collectTree({ source, target: join(root, 'c2'), baseline });
    expect(file).toMatchObject({ status: 'source_missing', deleted: ['input.csv'] });
  });

  it('opens no FIFO and no socket', async () => {
    const { source, target } = setUp();
    execFileSync('mkfifo', [join(source, 'fifo')]);
    const server = createServer().listen(join(source, 'socket'));
    await once(server, 'listening');
    const tree = await collectTree({ source, target });
    expect(reasons(tree)).toEqual({ fifo: 'fifo', socket: 'socket' });
    server.close();
    await once(server, 'close');
  });

  it.skipIf(!isRoot)('opens no device (needs root to make one)', async () => {
    const { source, target } = setUp();
    try {
      execFileSync('mknod', [join(source, 'zero'), 'c', '1', '5'], { stdio: 'ignore' });
    } catch {
      // A container may forbid devices even to root; then there is nothing an agent could plant.
      return;
    }
    expect(reasons(await collectTree({ source, target }))).toEqual({ zero: 'device' });
  });

  it('takes several names of a file of the agent', async () => {
    const { source, target } = setUp();
    writeFileSync(join(source, 'one'), 'mine');
    linkSync(join(source, 'one'), join(source, 'two'));
    expect(taken(await collectTree({ source, target }))).toEqual(['one', 'two']);
  });

  it.skipIf(!isRoot)(
    'leaves out a hard link to a file of somebody else (needs root to own one)',
    async () => {
      const { source, target, hidden } = setUp();
      linkSync(join(hidden, 'answer.txt'), join(source, 'answer.txt'));
      chownSync(source, 65534, 65534);
      expect(reasons(await collectTree({ source, target }))).toEqual({ 'answer.txt': 'hard_link' });
      const named = await collectTree({ source, target: null, agentUid: 0 });
      expect(taken(named)).toEqual(['answer.txt']);
    },
  );

  it.skipIf(!isLinux)('keeps names that are not UTF-8, also on the disk (Linux only)', async () => {
    const { source, target } = setUp();
    const name = Buffer.from([0x72, 0xe9, 0x0a, 0xff]);
    writeFileSync(Buffer.concat([Buffer.from(`${source}/`), name]), 'x');
    const tree = await collectTree({ source, target, recordedAs: 'workspace' });
    expect(tree.files).toMatchObject([
      {
        path: 'workspace/r\\xe9\n\\xff',
        pathBase64: Buffer.concat([Buffer.from('workspace/'), name]).toString('base64'),
      },
    ]);
    expect(readdirSync(target, { encoding: 'buffer' })).toEqual([name]);
  });

  it('refuses what is too large, in sum too much, too deep or too long a path, with the reason', async () => {
    const { source, target } = setUp();
    mkdirSync(join(source, 'a/b/c'), { recursive: true });
    writeFileSync(join(source, 'a/b/c/deep'), '1');
    writeFileSync(join(source, 'a/b/ok'), '1');
    writeFileSync(join(source, 'large'), '1'.repeat(11));
    writeFileSync(join(source, 'n'.repeat(30)), '1');
    writeFileSync(join(source, 'one'), '1'.repeat(9));
    writeFileSync(join(source, 'two'), '1'.repeat(9));
    const limits = { fileBytes: 10, totalBytes: 17, depth: 3, nameBytes: 29 };
    const tree = await collectTree({ source, target, limits });
    expect(taken(tree)).toEqual(['a/b/ok', 'one']);
    expect(reasons(tree)).toEqual({
      'a/b/c': 'too_deep',
      large: 'too_large',
      ['n'.repeat(30)]: 'name_too_long',
      two: 'total_bytes',
    });
    const short = await collectTree({ source, target: null, limits: { pathBytes: 5 } });
    expect(reasons(short)).toMatchObject({ 'a/b/ok': 'name_too_long' });
  });

  it('comes through a tree that is deeper than any path may be long', async () => {
    const { source, target } = setUp();
    // One name short enough to nest; the whole is far beyond the 4096 bytes of a path.
    const name = 'd'.repeat(200);
    execFileSync('sh', ['-c', `for i in $(seq 60); do mkdir ${name} && cd -P ${name}; done`], {
      cwd: source,
    });
    const tree = await collectTree({ source, target });
    expect(tree).toMatchObject({ status: 'complete', files: [] });
    expect(tree.omitted.map(({ reason }) => reason)).toEqual(['name_too_long']);
  });

  it('leaves out what only the place of the copy has no name for, and fails nothing', async () => {
    const { root, source } = setUp();
    const name = 'n'.repeat(200);
    mkdirSync(join(source, `${name}/${name}/folder`), { recursive: true });
    writeFileSync(join(source, `${name}/${name}/folder/file`), '1');
    writeFileSync(join(source, `${name}/fits`), '1');
    writeFileSync(join(source, `${name}/${'m'.repeat(240)}`), '1');
    // So far down that one more long name fits below 4096 bytes, and two do not.
    let target = root;
    while (target.length < 3470) target = join(target, 't'.repeat(200));
    target = join(target, 't'.repeat(3700 - target.length - 1));
    const tree = await collectTree({ source, target });
    expect(tree.status).toBe('complete');
    expect(taken(tree)).toEqual([`${name}/fits`]);
    expect(reasons(tree)).toEqual({
      [`${name}/${'m'.repeat(240)}`]: 'name_too_long',
      [`${name}/${name}`]: 'name_too_long',
    });
  });

  it.skipIf(!isLinux)(
    'reads files and folders from which the agent took all permissions (Linux only)',
    async () => {
      const { source, target } = setUp();
      mkdirSync(join(source, 'closed'));
      writeFileSync(join(source, 'closed/in.txt'), 'in');
      writeFileSync(join(source, 'file.txt'), 'file');
      chmodSync(join(source, 'file.txt'), 0);
      chmodSync(join(source, 'closed'), 0);
      chmodSync(source, 0);
      const tree = await collectTree({ source, target });
      expect(tree.files.map(({ path, mode }) => [path, mode])).toEqual([
        ['closed/in.txt', lstatSync(join(source, 'closed/in.txt')).mode & 0o7777],
        ['file.txt', 0],
      ]);
    },
  );

  it.skipIf(!isRoot || !isLinux)(
    'reads them as a harness that is not root and has the uid of the agent (needs root to change uid)',
    async () => {
      const { root, source } = setUp();
      chmodSync(root, 0o777);
      mkdirSync(join(source, 'closed'));
      writeFileSync(join(source, 'closed/in.txt'), 'in');
      chmodSync(join(source, 'closed/in.txt'), 0);
      execFileSync('chown', ['-R', '65534:65534', source]);
      chmodSync(join(source, 'closed'), 0);
      const module = new URL('../../../src/artifacts/collect-tree.ts', import.meta.url).href;
      // The checkout may be private to root, so the program is loaded before the uid changes.
      const program = `const { collectTree } = await import(${JSON.stringify(module)});
        process.setgroups([]); process.setgid(65534); process.setuid(65534);
        const tree = await collectTree({ source: ${JSON.stringify(source)}, target: null });
        console.log(JSON.stringify(tree.files.map(({ path, mode }) => [path, mode])));`;
      const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', program], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
      await once(child, 'close');
      expect(JSON.parse(output)).toEqual([['closed/in.txt', 0]]);
    },
  );

  it('lets a sparse file of a terabyte be, and keeps the holes of a small one', async () => {
    const { source, target } = setUp();
    const huge = openSync(join(source, 'huge'), 'w');
    ftruncateSync(huge, 1024 ** 4);
    closeSync(huge);
    const small = openSync(join(source, 'small'), 'w');
    ftruncateSync(small, 32 * MIB);
    writeSync(small, 'end', 20 * MIB);
    closeSync(small);
    const tree = await collectTree({ source, target });
    expect(reasons(tree)).toEqual({ huge: 'too_large' });
    expect(tree.files).toMatchObject([
      { path: 'small', bytes: 32 * MIB, sha256: sha256(readFileSync(join(source, 'small'))) },
    ]);
    const copy = statSync(join(target, 'small'));
    expect(copy.size).toBe(32 * MIB);
    expect(copy.blocks * 512).toBeLessThan(4 * MIB);
    expect(sha256(readFileSync(join(target, 'small')))).toBe(tree.files[0]!.sha256);
  });

  it('gives the same for the same files, in whatever order they were made', async () => {
    const { root } = setUp();
    const names = Array.from({ length: 200 }, (_, n) => `f${(n * 37) % 200}`);
    const make = (folder: string, order: readonly string[]) => {
      mkdirSync(folder);
      for (const name of order) writeFileSync(join(folder, name), name);
      return collectTree({ source: folder, target: null, limits: { files: 50 } });
    };
    const first = await make(join(root, 'first'), names);
    const second = await make(join(root, 'second'), names.toReversed());
    expect(first.files).toHaveLength(50);
    expect(second).toEqual(first);
  });

  it('takes 10,000 of 100,000 files in bounded time and sums up the others in one line', async () => {
    // In memory where the machine has it: this is about the number of names, not about its disk.
    const { source, target } = workspaceIn(scratch(existsSync('/dev/shm') ? '/dev/shm' : undefined));
    execFileSync('sh', ['-c', 'seq 1 100000 | xargs touch'], { cwd: source });
    const started = performance.now();
    const tree = await collectTree({ source, target });
    expect(tree.files).toHaveLength(10_000);
    expect(tree.omitted).toEqual([{ path: '.', reason: 'too_many_files', bytes: null, count: 90_000 }]);
    expect(performance.now() - started).toBeLessThan(60_000);
  }, 180_000);

  it('lets a flood push out no file of the scenario', async () => {
    const { source, target } = setUp();
    mkdirSync(join(source, 'z'));
    writeFileSync(join(source, 'z/input.csv'), '1');
    const baseline = await takeBaseline(source);
    for (let n = 0; n < 100; n += 1) writeFileSync(join(source, `flood-${n}`), '');
    const tree = await collectTree({ source, target, baseline, limits: { files: 10 } });
    expect(tree.files).toHaveLength(9);
    expect(taken(tree)).toContain('z/input.csv');
    expect(tree.deleted).toEqual([]);
  });

  it('tells files of the scenario and scaffold from the work of the agent, and lists deleted ones', async () => {
    const { source, target } = setUp();
    for (const name of ['kept', 'changed', 'deleted', 'linked']) writeFileSync(join(source, name), name);
    const scenario = await takeBaseline(source);
    writeFileSync(join(source, 'AGENTS.md'), 'scaffold');
    writeFileSync(join(source, 'SOUL.md'), 'scaffold');
    const baseline = scenario.withScaffold(await takeBaseline(source));
    writeFileSync(join(source, 'changed'), 'other');
    writeFileSync(join(source, 'SOUL.md'), 'other');
    rmSync(join(source, 'deleted'));
    rmSync(join(source, 'linked'));
    symlinkSync('kept', join(source, 'linked'));
    writeFileSync(join(source, 'new'), '');
    const tree = await collectTree({ source, target, baseline });
    expect(Object.fromEntries(tree.files.map(({ path, origin }) => [path, origin]))).toEqual({
      'AGENTS.md': 'scaffold',
      'SOUL.md': 'agent',
      changed: 'agent',
      kept: 'scenario',
      new: 'agent',
    });
    expect(tree.deleted).toEqual(['deleted']);
    expect(reasons(tree)).toEqual({ linked: 'symlink' });
  });

  it('stops where it is when it is told to, and says so', async () => {
    const { source, target } = setUp();
    writeFileSync(join(source, 'a'), 'a');
    const baseline = await takeBaseline(source);
    rmSync(join(source, 'a'));
    const tree = await collectTree({ source, target, baseline, signal: AbortSignal.abort() });
    expect(tree).toMatchObject({ status: 'cut_short', files: [], deleted: [] });
  });
});
