import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attemptMetaSchema } from '../../../src/api/attempt-meta.ts';
import { runtimeProbeSchema, timelineSchema } from '../../../src/api/attempt-records.ts';
import { attemptResultSchema } from '../../../src/api/attempt.ts';
import { runtimeSpecSchema } from '../../../src/api/benchmark-run.ts';
import { attemptLayout } from '../../../src/api/run-layout.ts';
import { readManifest, verifyManifest } from '../../../src/artifacts/manifest.ts';
import { RUNTIME_PREFIX } from '../../../src/attempt/prompt.ts';
import { Bench, heartbeat, programAdapter, quickTimeouts, readJson } from './support.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

/** An adapter whose agent writes down byte for byte what it was told. */
const listener = {
  ...programAdapter,
  turn: ({ paths }, { message, turn }) => ({
    argv: ['/bin/cp', join(paths.state, 'message'), `told-${turn}`],
    env: {},
    cwd: paths.workspace,
    files: [{ path: join(paths.state, 'message'), mode: 0o600, content: message }],
  }),
} satisfies typeof programAdapter;

describe('an attempt that goes well', () => {
  it('leaves every file that the specification names, valid and covered by the manifest', async () => {
    const { result, attemptDir } = await bench.run(
      `import { writeFileSync } from 'node:fs'; writeFileSync('answer.txt', 'done'); console.log('spoken');`,
      { files: { 'workspace/input/a.txt': 'given' }, request: { timeouts: quickTimeouts({ settle: 0.2 }) } },
    );
    const layout = attemptLayout(attemptDir);
    expect(result).toMatchObject({ exitCode: 0, signal: null, killReason: null, collected: true, turns: 1 });
    expect(attemptResultSchema.parse(readJson(layout.resultJson))).toEqual(result);
    expect(await verifyManifest(attemptDir, result.manifestDigest)).toEqual([]);

    const meta = attemptMetaSchema.parse(readJson(layout.metaJson));
    expect(meta).toMatchObject({
      taskId: 'a_scenario',
      agentExitCode: 0,
      killReason: null,
      promptPrefixSha256: null,
    });
    expect(meta.dispatch.map(({ event }) => event)).toEqual([
      'staged',
      'shim_connected',
      'turn_started',
      'turn_exited',
      'settled',
      'turn_dead',
      'collecting',
      'collected',
    ]);
    expect(runtimeProbeSchema.parse(readJson(layout.runtimeProbeJson))).toMatchObject({
      processes: [],
      result_files: [{ path: 'workspace/answer.txt' }],
    });
    timelineSchema.parse(readJson(layout.timelineJson));
    expect(readFileSync(join(layout.logs, 'turn_01.stdout.log'), 'utf8')).toBe('spoken\n');
    const manifest = await readManifest(attemptDir);
    const origins = manifest?.files.map(({ path, origin }) => [path, origin]);
    expect(origins).toContainEqual(['workspace/input/a.txt', 'scenario']);
    expect(origins).toContainEqual(['workspace/answer.txt', 'agent']);
  });

  it('charges neither settling nor collection to the executor', async () => {
    const { result } = await bench.run(`setTimeout(() => undefined, 300)`, {
      request: { timeouts: quickTimeouts({ settle: 1 }) },
    });
    expect(result.runtimeMs).toBeGreaterThanOrEqual(300);
    expect(result.wallClockMs - result.runtimeMs).toBeGreaterThanOrEqual(1000);
  });

  it('tells a scenario’s prompt byte for byte', async () => {
    const prompt = '\uFEFFFirst line\r\n\t "quoted" $HOME `x` \\n äöü 漢字 🙂\nno line break at the end';
    const { attemptDir } = await bench.run(prompt, { request: { adapter: listener } });
    const layout = attemptLayout(attemptDir);
    expect(readFileSync(join(layout.workspace, 'told-1')).equals(Buffer.from(prompt))).toBe(true);
    expect(readFileSync(layout.promptMd).equals(Buffer.from(prompt))).toBe(true);
  });

  it('tells a task its prompt with the prefix, and gives it its skills and results folder', async () => {
    const skill = `import { cpSync, mkdirSync } from 'node:fs'; import { homedir } from 'node:os';
      mkdirSync('results'); cpSync(homedir() + '/skills/a/SKILL.md', 'results/skill.md');`;
    const { attemptDir } = await bench.run(skill, {
      files: { 'skills/a/SKILL.md': 'how to' },
      scenario: { format: 'task', skills: ['a'] },
      request: {
        adapter: {
          ...programAdapter,
          turn: (context, input) =>
            programAdapter.turn(context, { ...input, message: input.message.replace(RUNTIME_PREFIX, '') }),
        },
      },
    });
    const layout = attemptLayout(attemptDir);
    expect(readFileSync(layout.promptMd, 'utf8')).toBe(`${skill}\n\n${RUNTIME_PREFIX}`);
    expect(readFileSync(join(layout.result, 'skill.md'), 'utf8')).toBe('how to');
  });

  it('continues the same session in a further turn, with everything of the first one dead', async () => {
    const program = `import { spawn } from 'node:child_process'; import { appendFileSync } from 'node:fs';
      appendFileSync(process.env.HOME + '/turns', 'x');
      spawn(process.execPath, ['--input-type=module', '-e', ${JSON.stringify(heartbeat('one'))}], { detached: true, stdio: 'ignore' });
      setTimeout(() => process.exit(0), 300);`;
    const second = `import { readFileSync, statSync, writeFileSync } from 'node:fs';
      const before = statSync('one').size;
      setTimeout(() => writeFileSync('seen', JSON.stringify({
        turns: readFileSync(process.env.HOME + '/turns', 'utf8'), grown: statSync('one').size - before })), 200);`;
    const { result, attemptDir } = await bench.run(program, {
      request: { nextMessage: (_session, turn) => Promise.resolve(turn === 1 ? second : null) },
    });
    const layout = attemptLayout(attemptDir);
    expect(readJson(join(layout.workspace, 'seen'))).toEqual({ turns: 'x', grown: 0 });
    expect(result).toMatchObject({ turns: 2, exitCode: 0 });
    expect(readFileSync(layout.continuationMd(2), 'utf8')).toBe(second);
    expect(attemptMetaSchema.parse(readJson(layout.metaJson)).continuations).toMatchObject([
      { turn: 2, file: 'continuation_02.md' },
    ]);
    expect(result.observations).toContainEqual({ kind: 'leftover_processes', count: 1, commands: ['node'] });
  });

  it('bounds what it keeps of endless output and loses none of the result', async () => {
    const { result, attemptDir } = await bench.run(
      `import { writeSync } from 'node:fs'; const part = Buffer.alloc(65536, 'x'); for (let i = 0; i < 640; i++) writeSync(1, part);`,
    );
    expect(result).toMatchObject({ exitCode: 0, collected: true });
    const log = readFileSync(join(attemptLayout(attemptDir).logs, 'turn_01.stdout.log'));
    expect(log.length).toBe(32 * 1024 ** 2);
  });
});

describe('environment of the agent', () => {
  it('holds nothing of the harness, not even in the shim', async () => {
    process.env['CLAWBENCH_API_KEY'] = 'sk-very-secret';
    process.env['SOMETHING_OF_THE_USER'] = 'private';
    try {
      const { attemptDir } = await bench.run(
        `import { readFileSync, writeFileSync } from 'node:fs';
         writeFileSync('env.json', JSON.stringify({ own: process.env, shim: readFileSync('/proc/' + process.ppid + '/environ', 'latin1') }));`,
        {
          request: {
            runtime: runtimeSpecSchema.parse({ id: 'scripted', env: { EXTRA: '1', PATH: '/bin' } }),
          },
        },
      );
      const { own, shim } = readJson(join(attemptLayout(attemptDir).workspace, 'env.json')) as {
        own: Record<string, string>;
        shim: string;
      };
      const names = ['CLAWBENCH_ATTEMPT', 'EXTRA', 'HOME', 'LANG', 'PATH', 'TERM', 'TMPDIR'];
      expect(Object.keys(own).sort()).toEqual(names);
      expect(own).toMatchObject({ EXTRA: '1', PATH: '/bin' });
      expect(shim).not.toContain('secret');
      expect(shim).not.toContain('private');
    } finally {
      delete process.env['CLAWBENCH_API_KEY'];
      delete process.env['SOMETHING_OF_THE_USER'];
    }
  });
});

describe('set-up of a scenario', () => {
  it('runs in the workspace as the agent’s user before the agent, and what it makes is the scenario’s', async () => {
    const { result, attemptDir } = await bench.run(
      `import { readFileSync, writeFileSync, statSync } from 'node:fs';
       writeFileSync('seen', readFileSync('made', 'utf8') + (statSync('made').uid === process.getuid()));`,
      { scenario: { setupScript: 'printf made > made', teardownScript: 'rm -rf ./*' } },
    );
    expect(result.observations.map(({ kind }) => kind)).toEqual(['agent_exit', 'transcript_missing']);
    expect(readFileSync(join(attemptLayout(attemptDir).workspace, 'seen'), 'utf8')).toBe('madetrue');
    const manifest = await readManifest(attemptDir);
    expect(manifest?.files.find(({ path }) => path === 'workspace/made')?.origin).toBe('scenario');
  });

  it('that fails stops the attempt before the agent', async () => {
    const { result, attemptDir } = await bench.run(
      `import { writeFileSync } from 'node:fs'; writeFileSync('agent-was-here', '');`,
      { scenario: { setupScript: 'echo no such service >&2; exit 3' } },
    );
    expect(result).toMatchObject({ turns: 0, exitCode: null, collected: false, runtimeMs: 0 });
    expect(result.observations).toEqual([
      { kind: 'setup_failed', message: 'the setup script ended with code 3: no such service' },
    ]);
    expect(existsSync(attemptLayout(attemptDir).resultJson)).toBe(true);
  });

  it('that hangs is ended by the start bound', async () => {
    const { result } = await bench.run('', {
      scenario: { setupScript: 'sleep 100' },
      request: { timeouts: quickTimeouts({ start: 1 }) },
    });
    expect(result.observations).toEqual([
      { kind: 'setup_failed', message: 'the setup script took longer than 1 s' },
    ]);
  });
});

describe('an attempt that cannot begin', () => {
  it('observes a program that is not there', async () => {
    const { result } = await bench.run('', {
      request: {
        adapter: {
          ...programAdapter,
          turn: (c, i) => ({ ...programAdapter.turn(c, i), argv: ['/no/such/agent'] }),
        },
      },
    });
    expect(result.observations).toMatchObject([{ kind: 'spawn_failed' }]);
    expect(result).toMatchObject({ exitCode: null, runtimeMs: 0, turns: 1 });
  });

  it('observes a suite that lacks its prompt', async () => {
    const { result } = await bench.run('', { request: { publicDir: '/no/such/folder' } });
    expect(result.observations).toMatchObject([{ kind: 'staging_failed' }]);
    expect(result.turns).toBe(0);
  });

  it('observes an adapter that throws', async () => {
    const fail = () => {
      throw new Error('cannot make a turn of it');
    };
    const { result } = await bench.run('', { request: { adapter: { ...programAdapter, turn: fail } } });
    expect(result.observations).toContainEqual({
      kind: 'adapter_error',
      message: 'cannot make a turn of it',
    });
  });

  it('refuses the directory of another attempt', async () => {
    const { attemptDir } = await bench.run('');
    await expect(bench.run('', { request: { attemptDir } })).rejects.toMatchObject({
      reason: 'AttemptTaken',
    });
  });
});
