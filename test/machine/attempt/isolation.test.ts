import { spawn } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { attemptLayout } from '../../../src/api/run-layout.ts';
import { listenForShim } from '../../../src/attempt/shim/connection.ts';
import { launchLocalExecutor } from '../../../src/local/executor/local-executor.ts';
import { openLocalHost } from '../../../src/local/executor/local-host.ts';
import { stageProgram } from '../../../src/local/executor/program.ts';
import { Bench, expectStill, ISOLATIONS_HERE, isRoot, NO_LIMITS, readJson, until } from './support.ts';

/** Tries to reach what an agent must not reach, and writes down what it got. */
function spy(root: string, runFolder: string): string {
  return `import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
    const got = {};
    const attempt = (name, action) => { try { got[name] = String(action() ?? 'done').slice(0, 200); } catch (error) { got[name] = error.code; } };
    attempt('hidden', () => readFileSync(${JSON.stringify(join(root, 'dir', 'hidden', 'answer.txt'))}, 'utf8'));
    attempt('records', () => readdirSync(${JSON.stringify(join(root, 'dir', 'attempts'))}));
    attempt('environment', () => readFileSync('/proc/${process.pid}/environ', 'utf8'));
    attempt('signal', () => process.kill(${process.pid}, 0));
    attempt('others', () => readdirSync(${JSON.stringify(runFolder)}));
    attempt('mark', () => readFileSync(${JSON.stringify(join(runFolder, 'owner.json'))}));
    attempt('program', () => writeFileSync(${JSON.stringify(join(runFolder, 'program', 'shim.mjs'))}, ''));
    attempt('own', () => writeFileSync('own', ''));
    got.user = process.getuid();
    writeFileSync('got.json', JSON.stringify(got));`;
}

describe('what an agent can reach', () => {
  for (const isolation of ISOLATIONS_HERE.filter((one) => one !== 'none')) {
    it(`with isolation ${isolation} is its own folders`, async () => {
      await using bench = await Bench.open(isolation);
      if (isolation === 'uid') await chmod(join(bench.root, 'dir'), 0o700);
      const { result, attemptDir } = await bench.run(spy(bench.root, bench.host.folder));
      expect(result).toMatchObject({ isolation, exitCode: 0 });
      const got = readJson(join(attemptLayout(attemptDir).workspace, 'got.json')) as Record<string, unknown>;
      const denied = /^(EACCES|EPERM|ENOENT|ESRCH|EROFS)$/;
      for (const name of ['hidden', 'records', 'environment', 'signal', 'mark', 'program']) {
        expect([name, got[name]]).toEqual([name, expect.stringMatching(denied)]);
      }
      // In a container the run's folder shows the agent's own attempt and nothing else.
      if (isolation === 'uid') expect(got['others']).toMatch(denied);
      else expect(got['others']).not.toContain('owner.json');
      expect(got['own']).toBe('done');
      if (isRoot) expect(got['user']).not.toBe(0);
    });
  }

  it.skipIf(!isRoot)('is not what an earlier attempt left in shared folders (needs root)', async () => {
    for (const isolation of ['container', 'uid'] as const) {
      await using bench = await Bench.open(isolation);
      const name = `/tmp/left-by-an-agent-${process.pid}`;
      const leave = `import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
        writeFileSync('seen', String(existsSync('${name}')));
        if (!existsSync('${name}')) mkdirSync('${name}/deep', { recursive: true });
        writeFileSync('${name}/deep/file', 'x');`;
      for (let time = 0; time < 2; time += 1) {
        const { attemptDir, result } = await bench.run(leave);
        expect(result.exitCode).toBe(0);
        expect(readFileSync(join(attemptLayout(attemptDir).workspace, 'seen'), 'utf8')).toBe('false');
      }
      expect(existsSync(name)).toBe(false);
    }
  });

  it.skipIf(!isRoot)('is reported where only a container would hide it (needs root)', async () => {
    const root = await mkdtemp(join(tmpdir(), 'clawbench-open-'));
    onTestFinished(() => rm(root, { recursive: true }));
    await chmod(root, 0o755);
    await mkdir(join(root, 'private'), { mode: 0o700 });
    for (const [isolation, exposed] of [
      ['container', []],
      ['uid', [root]],
    ] as const) {
      const host = await openLocalHost({ hide: [root, join(root, 'private')], isolation });
      expect(host.exposed).toEqual(exposed);
      await host.close();
    }
  });

  it.skipIf(!isRoot)(
    'works from a private checkout: the program is staged where any user can run it (needs root)',
    async () => {
      const checkout = await mkdtemp(join(tmpdir(), 'clawbench-private-'));
      const run = await mkdtemp(join(tmpdir(), 'clawbench-staged-'));
      onTestFinished(() =>
        Promise.all([checkout, run].map((path) => rm(path, { recursive: true }))).then(() => undefined),
      );
      await chmod(run, 0o711);
      await copyFile(process.execPath, join(checkout, 'node'));
      expect(statSync(checkout).mode & 0o777).toBe(0o700);
      const program = await stageProgram(run, join(checkout, 'node'));
      const child = spawn(program.node, ['--check', program.shim], {
        uid: 65_534,
        gid: 65_534,
        stdio: 'ignore',
      });
      expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
    },
  );
});

describe('the listener for the shim', () => {
  const hello = (token: string) =>
    `${JSON.stringify({ type: 'hello', version: 'v', protocol: 1, token, containment: 'tree' })}\n`;

  it('refuses strangers, takes the one with the word, and closes', async () => {
    const listener = await listenForShim({ port: 0, token: 'the word' });
    const stranger = connect(listener.port, '127.0.0.1');
    stranger.on('error', () => undefined);
    stranger.write(hello('a guess'));
    const silent = connect(listener.port, '127.0.0.1');
    silent.on('error', () => undefined);
    await new Promise((resolve) => stranger.once('close', resolve));

    const shim = connect(listener.port, '127.0.0.1');
    shim.write(hello('the word').slice(0, 20));
    await delay(20);
    shim.write(hello('the word').slice(20));
    const connection = await listener.connection(2000);
    expect(connection.hello.version).toBe('v');

    const late = connect(listener.port, '127.0.0.1');
    expect(
      await new Promise((resolve) => late.once('error', (error) => resolve('code' in error && error.code))),
    ).toBe('ECONNREFUSED');
    silent.destroy();
    shim.write('garbage\n');
    expect(await connection.lost).toMatch(/not JSON/);
    expect(connection.isLost).toBe(true);
    expect(await connection.killAll()).toBeNull();
  });

  it('gives up in time', async () => {
    const listener = await listenForShim({ port: 0, token: null });
    await expect(listener.connection(50)).rejects.toMatchObject({ reason: 'ShimMissing' });
  });
});

describe('a harness that is killed', () => {
  it('takes its agent with it within seconds, and a later run sweeps what is left', async () => {
    const root = await mkdtemp(join(tmpdir(), 'clawbench-killed-'));
    onTestFinished(() => rm(root, { recursive: true, force: true }));
    const script = join(root, 'harness.ts');
    const support = JSON.stringify(join(import.meta.dirname, 'support.ts'));
    await writeFile(
      script,
      `import { Bench, heartbeat, quickTimeouts } from ${support};
       const bench = await Bench.open();
       await bench.run(heartbeat('beats'), {
         limits: { memoryBytes: 2 ** 29, pids: 64, diskBytes: 2 ** 29 },
         request: { timeouts: quickTimeouts({ turn: 60, total: 60, wall: 60 }) },
         onLaunch: (executor) => console.log(JSON.stringify([executor.folder, bench.root])),
       });`,
    );
    const harness = spawn(process.execPath, ['--no-warnings', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [folder, benchRoot] = await new Promise<[string, string]>((resolve) => {
      harness.stdout
        .setEncoding('utf8')
        .once('data', (text: string) => resolve(JSON.parse(text) as [string, string]));
    });
    onTestFinished(() => rm(benchRoot, { recursive: true, force: true }));
    const beats = join(folder, 'work', 'workspace', 'beats');
    await until(() => existsSync(beats));
    harness.kill('SIGKILL');
    await until(async () => {
      try {
        await expectStill(beats, 200);
        return true;
      } catch {
        return false;
      }
    }, 5);

    const host = await openLocalHost({ hide: [] });
    expect(existsSync(folder)).toBe(false);
    await host.close();
  });
});

describe('an executor that is thrown away', () => {
  it('leaves no folder, no group and no user behind, also when no attempt was run', async () => {
    await using bench = await Bench.open();
    const limits = { ...NO_LIMITS, memoryBytes: 2 ** 28, pids: 32 };
    const executor = await launchLocalExecutor(bench.host, { trial: 't', attempt: 1, limits });
    await executor.connect(10_000);
    await executor.dispose();
    expect(existsSync(executor.folder)).toBe(false);
    const groups = [bench.host.cgroups?.memory, bench.host.cgroups?.pids].flatMap((path) => path ?? []);
    const name = bench.host.folder.slice(bench.host.folder.lastIndexOf('/') + 1);
    for (const parent of groups) {
      expect((await readdir(parent)).filter((group) => group.startsWith(name))).toEqual([]);
    }
  });
});
