import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TraceEvent } from '../../../src/api/trace.ts';
import { InvalidInputError } from '../../../src/api/errors.ts';
import { scriptedAdapter } from '../../../src/runtimes/scripted/adapter.ts';
import { PLACEHOLDER } from '../../../src/runtimes/scripted/plan.ts';
import { eventually, scriptedBench, textOf, type Bench } from './scripted-bench.ts';

const SOLVE = `
- write: {path: first.txt, content: one}
- write: {path: second.txt, content: two}
- message: Solved.
`;
const scripts = { solve: SOLVE };

const texts = (events: readonly TraceEvent[]) =>
  events.flatMap((event) => (event.type === 'assistant_message' ? [event.text] : []));
const files = async (bench: Bench) => (await readdir(bench.context.paths.workspace)).sort();

describe('behaviours that are scripts', () => {
  it.each(['wrong', 'unsafe'])('%s does its own file', async (behaviour) => {
    await using bench = await scriptedBench({
      runtime: { behaviour },
      scripts: { ...scripts, [behaviour]: `- write: {path: ${behaviour}.txt, content: x}\n` },
    });
    expect(await bench.play(1)).toMatchObject({ code: 0 });
    expect(await files(bench)).toEqual([`${behaviour}.txt`]);
    expect((await bench.read()).stopReason).toBe('stop');
  });

  it('are refused before anything starts when the file is missing', async () => {
    const bench = scriptedBench({ runtime: { behaviour: 'wrong' }, scripts });
    await expect(bench).rejects.toThrow(InvalidInputError);
    await expect(bench).rejects.toThrow(/scripted\/demo\/wrong\.yaml.*scenario demo has no script/);
  });

  it.each([
    ['- shell: ls\n- shel: ls\n', /solve\.yaml:2: .*shel/s],
    ['- shell: ls\n- write: {path: a}\n', /solve\.yaml:2: .*content/s],
    ['steps: []\n', /solve\.yaml:1: /],
    ['- shell: "ls\n', /solve\.yaml:\d+: /],
    ['', /solve\.yaml:1: /],
  ])('are refused with file and line when they read %j', async (solve, message) => {
    const bench = scriptedBench({ scripts: { solve } });
    await expect(bench).rejects.toThrow(InvalidInputError);
    await expect(bench).rejects.toThrow(message);
  });

  it('may be chosen for a single scenario', async () => {
    await using bench = await scriptedBench({
      runtime: { behaviour: 'silent', behaviours: { demo: 'solve', other: 'oom' } },
      scripts,
    });
    await bench.play(1);
    expect(await files(bench)).toEqual(['first.txt', 'second.txt']);
  });

  it('end with the exit code of a fail step, without an answer', async () => {
    await using bench = await scriptedBench({
      scripts: { solve: '- write: {path: a, content: a}\n- fail: 9\n- message: Never.\n' },
    });
    const end = await bench.play(1);
    expect(end.code).toBe(9);
    expect(JSON.parse(end.stdout)).toMatchObject({ ok: false, error: { kind: 'script' } });
    expect(await bench.read()).toMatchObject({ stopReason: null, placeholder: true });
  });
});

describe('tools of the scripted agent', () => {
  it('go on after an error, as an agent does', async () => {
    await using bench = await scriptedBench({
      scripts: {
        solve: `
- read: {path: missing.txt}
- edit: {path: twice.txt, old: a, new: b}
- edit: {path: twice.txt, old: z, new: b}
- write: {path: twice.txt/below, content: x}
- shell: "kill -9 $$"
- write: {path: after.txt, content: x}
`,
      },
      workspace: { 'twice.txt': 'aa' },
    });
    await bench.play(1);
    const { events } = await bench.read();
    const results = events.flatMap((event) =>
      event.type === 'tool_result' ? [event.status, event.result] : [],
    );
    expect(results).toEqual([
      'error',
      expect.stringContaining('ENOENT'),
      'error',
      'the text to replace is there 2 times',
      'error',
      'the text to replace is not in the file',
      'error',
      expect.stringMatching(/ENOTDIR|EEXIST/),
      'error',
      '[killed by SIGKILL]',
      'ok',
      'wrote 1 bytes to after.txt',
    ]);
  });

  it('bound what they give back', async () => {
    await using bench = await scriptedBench({
      scripts: {
        solve:
          '- shell: head -c 3000000 /dev/zero | tr "\\\\0" x\n- shell: head -c 3000000 /dev/zero > big\n- read: {path: big}\n',
      },
    });
    expect(await bench.play(1)).toMatchObject({ code: 0 });
    const { events } = await bench.read();
    const results = events.flatMap((event) => (event.type === 'tool_result' ? [String(event.result)] : []));
    expect(results[0]).toHaveLength(64 * 1024 + '\n[2934464 more bytes left out]'.length);
    expect(results[0]).toMatch(/^x+\n\[2934464 more bytes left out\]$/);
    expect(results[2]?.length).toBeLessThan(260 * 1024);
  });

  it('do not wait for what a command leaves in the background', async () => {
    await using bench = await scriptedBench({
      scripts: { solve: '- shell: "sleep 30 & echo $!"\n- message: Done.\n' },
    });
    const started = Date.now();
    expect(await bench.play(1)).toMatchObject({ code: 0 });
    expect(Date.now() - started).toBeLessThan(15_000);
    const { events } = await bench.read();
    const result = events.find((event) => event.type === 'tool_result');
    const pid = Number(result?.type === 'tool_result' ? result.result : NaN);
    expect(process.kill(pid, 'SIGKILL')).toBe(true);
  });
});

describe('behaviours that need no script', () => {
  it('noop answers at once and does nothing', async () => {
    await using bench = await scriptedBench({ runtime: { behaviour: 'noop' } });
    expect(await bench.play(1)).toMatchObject({ code: 0 });
    const { events, stopReason, placeholder, usage } = await bench.read();
    expect(events.map((event) => event.type)).toEqual(['user_message', 'assistant_message']);
    expect({ stopReason, placeholder, calls: usage.toolCalls }).toEqual({
      stopReason: 'stop',
      placeholder: false,
      calls: 0,
    });
    expect(await files(bench)).toEqual([]);
  });

  it('silent writes nothing anywhere and does not end', async () => {
    await using bench = await scriptedBench({ runtime: { behaviour: 'silent' }, scripts });
    const { child, ended } = await bench.start(1);
    // Long enough for a program of ours to have spoken: a noop is over in a fraction of it.
    await new Promise((done) => setTimeout(done, 1500));
    expect(child.exitCode).toBeNull();
    child.kill('SIGTERM');
    expect(await ended).toEqual({ code: null, signal: 'SIGTERM', stdout: '', stderr: '' });
    expect(await textOf(bench.session)).toBeUndefined();
    expect(await bench.read()).toMatchObject({
      sessionId: null,
      events: [],
      placeholder: true,
      nativeFiles: [],
    });
  });

  it.each([
    ['its first step', { scripts }, ['first.txt']],
    [
      'as many steps as it is told',
      { scripts, runtime: { config: { hang: { steps: 2 } } } },
      ['first.txt', 'second.txt'],
    ],
    ['something harmless without a script', {}, []],
  ])('hang does %s and then nothing more', async (_, options, done) => {
    await using bench = await scriptedBench({
      ...options,
      runtime: { behaviour: 'hang', ...('runtime' in options ? options.runtime : {}) },
    });
    const { child, ended } = await bench.start(1);
    await eventually(async () =>
      (await bench.read()).events.length === 1 + 2 * Math.max(1, done.length) ? 1 : undefined,
    );
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: null, signal: 'SIGTERM', stdout: '' });
    expect(await files(bench)).toEqual(done);
    expect(await bench.read()).toMatchObject({ stopReason: null, placeholder: true });
  });

  it.each([
    ['exit code 70', {}, { code: 70, signal: null }],
    ['the exit code of the configuration', { crash: { exitCode: 3 } }, { code: 3, signal: null }],
    ['a signal', { crash: { signal: 'SIGSEGV' } }, { code: null, signal: 'SIGSEGV' }],
  ])('crash ends with %s after some work', async (_, config, end) => {
    await using bench = await scriptedBench({ runtime: { behaviour: 'crash', config }, scripts });
    expect(await bench.play(1)).toMatchObject({ ...end, stdout: '' });
    expect(await files(bench)).toEqual(['first.txt']);
    expect(await bench.read()).toMatchObject({ stopReason: null, usage: { toolCalls: 1 } });
  });

  it.skipIf(process.platform !== 'linux')(
    'oom uses more and more memory, up to its cap (Linux)',
    async () => {
      await using bench = await scriptedBench({
        runtime: { behaviour: 'oom', config: { oom: { capMiB: 192, chunkMiB: 16 } } },
      });
      const { child, ended } = await bench.start(1);
      await eventually(async () => {
        const status = await textOf(`/proc/${child.pid}/status`);
        const kibibytes = Number(/VmRSS:\s+(\d+) kB/.exec(status ?? '')?.[1] ?? 0);
        return kibibytes > 192 * 1024 ? true : undefined;
      });
      expect(await readFile(`/proc/${child.pid}/oom_score_adj`, 'utf8')).toBe('1000\n');
      expect(await textOf(bench.session)).toContain('holds 16 MiB');
      child.kill('SIGKILL');
      expect(await ended).toMatchObject({ signal: 'SIGKILL' });
    },
  );

  it.skipIf(process.platform !== 'linux')(
    'stubborn ignores SIGTERM, works on and leaves daemons of other sessions and parents (Linux)',
    async () => {
      await using bench = await scriptedBench({
        runtime: { behaviour: 'stubborn', config: { stubborn: { daemons: 2, lifeSeconds: 20 } } },
      });
      const { child, ended } = await bench.start(1);
      const { workspace } = bench.context.paths;
      const logs = [1, 2].map((number) => join(workspace, `daemon-${number}.log`));
      for (const log of logs) await eventually(async () => await textOf(log));
      const calls = async () => (await bench.read()).usage.toolCalls;
      await eventually(async () => ((await calls()) >= 1 ? true : undefined));
      for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) child.kill(signal);
      const before = await calls();
      await eventually(async () => ((await calls()) >= before + 2 ? true : undefined));
      expect(child.exitCode).toBeNull();

      const daemons = await daemonsIn(workspace);
      expect(daemons).toHaveLength(2);
      expect(new Set(daemons.map((daemon) => daemon.session)).size).toBe(2);
      for (const daemon of daemons) {
        expect(daemon.parent).not.toBe(child.pid);
        expect(daemon.session).not.toBe(child.pid);
      }
      child.kill('SIGKILL');
      expect(await ended).toMatchObject({ signal: 'SIGKILL', stdout: '' });
      const size = async () => (await textOf(logs[0]!))?.length ?? 0;
      const last = await size();
      await eventually(async () => ((await size()) > last ? true : undefined));
      for (const { pid } of daemons) process.kill(pid, 'SIGTERM');
      expect((await daemonsIn(workspace)).length).toBe(daemons.length);
      for (const { pid } of await daemonsIn(workspace)) process.kill(pid, 'SIGKILL');
    },
  );

  it.skipIf(process.platform !== 'linux')(
    'stubborn and its daemons end by themselves in the end (Linux)',
    async () => {
      await using bench = await scriptedBench({
        runtime: { behaviour: 'stubborn', config: { stubborn: { daemons: 1, lifeSeconds: 1 } } },
      });
      expect(await bench.play(1)).toMatchObject({ code: 0 });
      const { workspace } = bench.context.paths;
      await eventually(async () => ((await daemonsIn(workspace)).length === 0 ? true : undefined));
      expect(texts((await bench.read()).events)).toEqual(['Done after all.']);
    },
  );

  it('flood fills the disk in many files and stops at its cap', async () => {
    await using bench = await scriptedBench({
      runtime: { behaviour: 'flood', config: { flood: { capMiB: 6, chunkMiB: 2 } } },
    });
    expect(await bench.play(1)).toMatchObject({ code: 0 });
    const folder = join(bench.context.paths.workspace, 'flood');
    const sizes = await Promise.all(
      (await readdir(folder)).map(async (name) => (await lstat(join(folder, name))).size),
    );
    expect(sizes).toEqual([2, 2, 2].map((mebibytes) => mebibytes * 1024 * 1024));
    expect(texts((await bench.read()).events)).toEqual(['Wrote 6 MiB.']);
  });

  it('selfdelete removes its own workspace and ends in order', async () => {
    await using bench = await scriptedBench({
      runtime: { behaviour: 'selfdelete' },
      workspace: { 'a.txt': 'a' },
    });
    expect(await bench.play(1)).toMatchObject({ code: 0 });
    await expect(lstat(bench.context.paths.workspace)).rejects.toThrow(/ENOENT/);
    expect(await bench.read()).toMatchObject({
      stopReason: 'stop',
      placeholder: false,
      usage: { toolCalls: 1 },
    });
  });

  it('provider429 is refused in its first attempts and solves in the next', async () => {
    const config = { provider429: { refusals: 2, backoffMs: 1 } };
    for (const attempt of [1, 2, 3]) {
      await using bench = await scriptedBench({
        runtime: { behaviour: 'provider429', config },
        scripts,
        attempt,
      });
      const end = await bench.play(1);
      const { observations, placeholder, stopReason, events } = await bench.read();
      if (attempt === 3) {
        expect(end.code).toBe(0);
        expect({ observations, placeholder, stopReason }).toEqual({
          observations: [],
          placeholder: false,
          stopReason: 'stop',
        });
        expect(await files(bench)).toEqual(['first.txt', 'second.txt']);
      } else {
        expect(end.code).toBe(1);
        expect(JSON.parse(end.stdout)).toMatchObject({ ok: false, error: { kind: 'rate_limit' } });
        expect(observations.map((o) => (o.kind === 'provider_error' ? [o.status, o.final] : o.kind))).toEqual(
          [
            [429, false],
            [429, false],
            [429, true],
          ],
        );
        expect({ placeholder, stopReason }).toEqual({ placeholder: true, stopReason: 'error' });
        expect(scriptedAdapter.completesWith('error')).toBe(false);
        expect(texts(events)).toEqual([PLACEHOLDER]);
        expect(await files(bench)).toEqual([]);
      }
    }
  });
});

/** The shells that append to the daemon logs of a workspace. */
async function daemonsIn(workspace: string): Promise<{ pid: number; parent: number; session: number }[]> {
  const found = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const arguments_ = await textOf(`/proc/${name}/cmdline`);
    const stat = await textOf(`/proc/${name}/stat`);
    const folder = await readlinkOrNothing(`/proc/${name}/cwd`);
    if (arguments_?.includes('daemon-') !== true || stat === undefined || folder !== workspace) continue;
    const [, parent, , session] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    found.push({ pid: Number(name), parent: parent ?? 0, session: session ?? 0 });
  }
  return found;
}

async function readlinkOrNothing(path: string): Promise<string | undefined> {
  return await readlink(path).catch(() => undefined);
}
