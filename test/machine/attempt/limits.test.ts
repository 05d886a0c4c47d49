import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readManifest } from '../../../src/artifacts/manifest.ts';
import { Bench, expectStill, isRoot, quickTimeouts } from './support.ts';

const MIB = 1024 ** 2;
/** Takes memory and touches it, up to a bound of its own in case nobody else has one. */
const greedy = `const taken = []; const more = () => {
  if (taken.length < 60) { taken.push(Buffer.alloc(16 * ${MIB}, 1)); setTimeout(more, 5); } else process.exit(9); }; more();`;
const flood = `import { appendFileSync } from 'node:fs'; const part = Buffer.alloc(${MIB}, 1);
  process.on('SIGTERM', () => undefined);
  for (let i = 0; i < 600; i++) { appendFileSync('flood-' + (i % 7), part); await new Promise((go) => setTimeout(go, 5)); }`;

for (const isolation of ['container', 'none'] as const) {
  describe(`bounds with isolation ${isolation}`, () => {
    it.skipIf(isolation === 'container' && !isRoot)(
      'an agent that takes more memory than it may is killed, and the record says why (cgroup needs root)',
      async () => {
        await using bench = await Bench.open(isolation);
        const { result } = await bench.run(greedy, { limits: { memoryBytes: 256 * MIB } });
        expect(result).toMatchObject({
          signal: 'SIGKILL',
          exitCode: null,
          killReason: null,
          collected: true,
        });
        expect(result.observations).toContainEqual({ kind: 'agent_oom', oomKills: 1 });
        expect(result.oomKills).toBe(1);
      },
    );

    it('an agent that fills its disk is ended at once', async () => {
      await using bench = await Bench.open(isolation);
      const { result } = await bench.run(flood, {
        limits: { diskBytes: 64 * MIB },
        request: { patience: { killGraceMs: 8000, answerMs: 5000 } },
        atEnd: (executor) => expectStill(join(executor.paths.workspace, 'flood-0')),
      });
      expect(result).toMatchObject({ killReason: 'disk_limit', signal: 'SIGKILL', collected: true });
      expect(result.runtimeMs).toBeLessThan(6000);
    });
  });
}

describe('bounds without a cgroup', () => {
  it('on memory and processes are held by the shim', async () => {
    await using bench = await Bench.open();
    const host = { ...bench.host, cgroups: null };
    Object.assign(bench, { host });
    const { result: oom } = await bench.run(greedy, { limits: { memoryBytes: 256 * MIB } });
    expect(oom.observations).toContainEqual({ kind: 'agent_oom', oomKills: 1 });
    const { result: forks } = await bench.run(
      `import { spawn } from 'node:child_process'; for (let i = 0; i < 30; i++) spawn('sleep', ['20']);`,
      { limits: { pids: 20 } },
    );
    expect(forks.observations).toContainEqual({ kind: 'agent_pids_limit' });
    expect(forks.signal).toBe('SIGKILL');
  });
});

describe('bounds on what is left', () => {
  it.skipIf(!isRoot)('a fork bomb is held by the group and seen (needs root)', async () => {
    await using bench = await Bench.open();
    const { result } = await bench.run(
      `import { spawn } from 'node:child_process';
       let failed = 0;
       for (let i = 0; i < 80; i++) spawn('sleep', ['20']).on('error', () => { failed += 1; });
       setTimeout(() => process.exit(failed > 0 ? 0 : 1), 300);`,
      { limits: { pids: 50 } },
    );
    expect(result).toMatchObject({ exitCode: 0, collected: true });
    expect(result.observations).toContainEqual({ kind: 'agent_pids_limit' });
  });

  it('a disk bound that was passed between two looks still counts when the agent has ended', async () => {
    await using bench = await Bench.open();
    const { result } = await bench.run(
      `import { writeFileSync } from 'node:fs'; writeFileSync('big', Buffer.alloc(${20 * MIB}, 1)); process.exit(0);`,
      { limits: { diskBytes: 8 * MIB } },
    );
    expect(result).toMatchObject({ killReason: 'disk_limit', collected: true });
  });

  it('links that an agent plants are neither read nor written through', async () => {
    await using bench = await Bench.open();
    const hidden = join(bench.root, 'dir', 'hidden', 'answer.txt');
    const target = join(bench.root, 'dir', 'written-through');
    const { result, attemptDir } = await bench.run(
      `import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'; import { homedir } from 'node:os';
       symlinkSync(${JSON.stringify(hidden)}, 'answer.txt');
       symlinkSync('/', 'root');
       symlinkSync(${JSON.stringify(target)}, homedir() + '/../state/turn-2.mjs');
       writeFileSync('own', 'own');`,
      {
        request: {
          nextMessage: (_session, turn) => Promise.resolve(turn === 1 ? `console.log('second')` : null),
        },
      },
    );
    expect(result).toMatchObject({ exitCode: 0, turns: 2, collected: true });
    expect(existsSync(target)).toBe(false);
    const manifest = await readManifest(attemptDir);
    const agentFiles = manifest?.files.filter(({ origin }) => origin === 'agent').map(({ path }) => path);
    expect(agentFiles).toEqual(['workspace/own']);
    expect(manifest?.omitted).toMatchObject([
      { path: 'workspace/answer.txt', reason: 'symlink' },
      { path: 'workspace/root', reason: 'symlink' },
    ]);
  });

  it('a pipe in the place of a turn’s file does not stop the shim', async () => {
    await using bench = await Bench.open();
    const { result } = await bench.run(
      `import { execFileSync } from 'node:child_process'; import { homedir } from 'node:os';
       execFileSync('mkfifo', [homedir() + '/../state/turn-2.mjs']);`,
      {
        request: {
          nextMessage: (_session, turn) => Promise.resolve(turn === 1 ? `process.exit(5)` : null),
        },
      },
    );
    expect(result).toMatchObject({ exitCode: 5, turns: 2 });
  });

  it('a workspace that the agent removed is observed, and the attempt still has its records', async () => {
    await using bench = await Bench.open();
    const { result, attemptDir } = await bench.run(
      `import { rmSync } from 'node:fs'; rmSync(process.cwd(), { recursive: true });`,
      { request: { timeouts: quickTimeouts() } },
    );
    expect(result).toMatchObject({ exitCode: 0, collected: true });
    expect(result.observations).toContainEqual({ kind: 'workspace_missing' });
    expect((await readManifest(attemptDir))?.files.some(({ origin }) => origin === 'agent')).toBe(false);
  });
});
