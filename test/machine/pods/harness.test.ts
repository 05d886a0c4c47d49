import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attemptResultSchema } from '../../../src/api/attempt.ts';
import { modelSpecSchema } from '../../../src/api/benchmark-run.ts';
import { classifyAttempt } from '../../../src/attempt/failure-class.ts';
import { startGateway } from '../../../src/gateway/server.ts';
import { mintToken } from '../../../src/gateway/token.ts';
import { verifyManifest } from '../../../src/artifacts/manifest.ts';
import { freezeSuite } from '../../../src/suite/freeze.ts';
import { loadSuite } from '../../../src/suite/load.ts';
import { selectScenarios } from '../../../src/suite/select.ts';
import { writeSmallSuite } from '../../support/small-suite.ts';
import { expectStill, readJson, until } from '../attempt/support.ts';
import { freePort, MEMORY_BOUND_HERE, PodHere, type PodOptions } from './pod-here.ts';

let folder: string;
let suite: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'clawbench-pods-'));
  suite = join(folder, 'frozen');
  await writeSmallSuite(join(folder, 'suite'), { scenarios: 1 });
  const loaded = await loadSuite(join(folder, 'suite'));
  await freezeSuite({ suite: loaded, selection: selectScenarios(loaded), target: suite, scripted: true });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const pod = (options: Partial<PodOptions> = {}) =>
  PodHere.make({ suite, scenarioId: 's1', runtime: {}, ...options });

describe('the harness and the shim of a pod', { timeout: 60_000 }, () => {
  it('run an attempt: everything is collected and the report says so', async () => {
    await using here = await pod();
    const { code, report, stderr } = await here.run();
    expect(code, stderr).toBe(0);
    expect(report).toMatchObject({ step: 'done', turn: 1, sigterm: false, fault: null, podUID: 'pod-uid' });
    expect(report.connectedAt).not.toBeNull();
    const { result } = report;
    if (result === null) throw new Error('no result');
    expect(classifyAttempt({ result })).toMatchObject({ class: null, execution: 'success' });
    expect(result).toMatchObject({ collected: true, exitCode: 0, turns: 1, isolation: 'container' });
    expect(result.artifacts?.files).toBeGreaterThan(5);
    expect(result.usage.toolCalls).toBe(2);
    expect(await verifyManifest(here.attemptDir, result.manifestDigest)).toEqual([]);
    expect(await readFile(join(here.attemptDir, 'workspace/answer.txt'), 'utf8')).toBe('word-s1\n');
    const stored = attemptResultSchema.parse(readJson(join(here.attemptDir, 'result.json')));
    expect(stored).toMatchObject({ podUID: 'pod-uid', manifestDigest: result.manifestDigest });
  });

  it('carry the agent to its model, and believe only what they saw of its provider', async () => {
    const secret = 'a secret of this run, long enough';
    const exp = Math.ceil(Date.now() / 1000) + 600;
    const gateway = await startGateway({
      model: modelSpecSchema.parse({
        id: 'm',
        api: 'scripted',
        parameters: { scripted: { respond: { status: 429, retryAfterSeconds: 0, attempts: 1 } } },
      }),
      secret,
      apiKey: null,
      journalDir: await mkdtemp(join(folder, 'gateway-')),
      host: '127.0.0.1',
      ports: { model: 0, control: null, metrics: null, health: null },
      onNote: () => undefined,
      onFault: () => undefined,
    });
    const url = `http://127.0.0.1:${gateway.ports.model}`;
    try {
      const classes: (string | null)[] = [];
      for (const attempt of [1, 2]) {
        const claims = {
          trial: 'a-trial',
          attempt,
          podName: `a-trial-${attempt}`,
          role: 'agent',
          exp,
        } as const;
        const token = mintToken(secret, claims);
        await using here = await pod({ attempt, gateway: { url, token } });
        const { code, report, stderr } = await here.run();
        expect(code, stderr).toBe(0);
        classes.push(report.result === null ? 'none' : classifyAttempt({ result: report.result }).reason);
        const calls = await readFile(join(here.attemptDir, 'model-calls.jsonl'), 'utf8');
        expect(calls.trim().split('\n')).toHaveLength(attempt === 1 ? 4 : 1);
        for (const name of ['native/session.jsonl', 'result.json', 'model-calls.jsonl'])
          expect(await readFile(join(here.attemptDir, name), 'utf8')).not.toContain(token);
      }
      expect(classes).toEqual(['ProviderRateLimit', null]);
    } finally {
      await gateway.drain(0);
    }
  });

  it('end a hanging agent by its clock', async () => {
    await using here = await pod({ runtime: { behaviour: 'hang' }, timeouts: { turn: 3, total: 3 } });
    const { code, report } = await here.run();
    expect(code).toBe(0);
    expect(report.result).toMatchObject({ collected: true });
    expect(['turn_deadline', 'stall', 'startup_silence']).toContain(report.result?.killReason);
  });

  it('observe a crash', async () => {
    await using here = await pod({ runtime: { behaviour: 'crash' } });
    const { code, report } = await here.run();
    expect(code).toBe(0);
    if (report.result === null) throw new Error('no result');
    expect(classifyAttempt({ result: report.result })).toMatchObject({
      class: 'agent',
      reason: 'AgentCrash',
    });
  });

  it.runIf(MEMORY_BOUND_HERE)("take the count of OOM kills from the shim's own cgroup", async () => {
    await using here = await pod({ runtime: { behaviour: 'oom' }, memoryBytes: 192 * 1024 ** 2 });
    const { code, report } = await here.run();
    expect(code).toBe(0);
    if (report.result === null) throw new Error('no result');
    expect(report.result.oomKills).toBeGreaterThan(0);
    expect(classifyAttempt({ result: report.result })).toMatchObject({
      class: 'agent',
      reason: 'OutOfMemory',
    });
  });

  it('collect within the grace period when the pod is ended in the middle of a turn', async () => {
    await using here = await pod({ runtime: { behaviour: 'hang' }, timeouts: { turn: 60, total: 60 } });
    const executor = here.startExecutor();
    const harness = here.startHarness();
    await here.reported(({ step }) => step === 'turn');
    harness.child.kill('SIGTERM');
    const told = await here.reported(({ sigterm }) => sigterm);
    expect(told.result).toBeNull();
    const { code } = await harness.ended;
    await executor.ended;
    expect(code).toBe(0);
    const { result, sigterm } = here.report();
    expect(sigterm).toBe(true);
    if (result === null) throw new Error('no result');
    expect(result).toMatchObject({ killReason: 'interrupted', collected: true });
    expect(classifyAttempt({ result, pod: { disrupted: true } })).toMatchObject({ reason: 'Disrupted' });
    expect(classifyAttempt({ result })).toMatchObject({ reason: 'Interrupted', counted: false });
  });

  it('leave no agent running when the harness is killed', async () => {
    await using here = await pod({ runtime: { behaviour: 'hang' }, timeouts: { turn: 60, total: 60 } });
    const executor = here.startExecutor();
    const harness = here.startHarness();
    await here.reported(({ step }) => step === 'turn');
    harness.child.kill('SIGKILL');
    await harness.ended;
    // The shim is the namespace's first process: when it ends, nothing else is left.
    const { code } = await executor.ended;
    expect(code).not.toBeNull();
    await expectStill(join(here.mount('state'), 'session.jsonl'));
    expect(here.report()).toMatchObject({ step: 'turn', turn: 1, result: null, fault: null });
    expect(existsSync(join(here.attemptDir, 'result.json'))).toBe(false);
  });

  it('take one connection, from somebody who speaks like the shim, and no other', async () => {
    await using here = await pod({ runtime: { behaviour: 'hang' }, timeouts: { turn: 3, total: 3 } });
    const harness = here.startHarness();
    await until(() => existsSync(join(here.mount('program'), 'shim.mjs')), 20);
    const stranger = connect({ host: '127.0.0.1', port: here.port });
    const refused = new Promise<void>((resolve) => stranger.once('close', () => resolve()));
    stranger.on('error', () => undefined);
    stranger.write('{"type":"exit","turn":1,"code":0,"signal":null,"oomKills":0,"limit":null}\n');
    await refused;
    here.startExecutor();
    await here.reported(({ step }) => step === 'turn');
    await expect(
      new Promise((resolve, reject) => {
        const late = connect({ host: '127.0.0.1', port: here.port });
        late.once('connect', () => resolve('connected'));
        late.once('error', reject);
      }),
    ).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    const { code } = await harness.ended;
    expect(code).toBe(0);
    expect(here.report().result?.killReason).not.toBeNull();
  });

  it('follow no link that is planted in the shared folders', async () => {
    await using here = await pod({ runtime: { behaviour: 'hang' }, timeouts: { turn: 4, total: 4 } });
    const secret = join(here.root, 'secret.txt');
    await writeFile(secret, 'the hidden answer');
    here.startExecutor();
    const harness = here.startHarness();
    // As the agent could, once it has done what it does before it hangs.
    const session = join(here.mount('state'), 'session.jsonl');
    await until(() => existsSync(session) && readFileSync(session, 'utf8').includes('tool_result'), 20);
    const workspace = join(here.mount('work'), 'workspace');
    await symlink(secret, join(workspace, 'leak.txt'));
    await rm(session);
    await symlink(secret, session);
    const { code } = await harness.ended;
    expect(code).toBe(0);
    expect(here.report().result?.collected).toBe(true);
    expect(existsSync(join(here.attemptDir, 'workspace/leak.txt'))).toBe(false);
    const kept = await readFile(join(here.attemptDir, 'transcript.jsonl'), 'utf8');
    expect(kept).not.toContain('the hidden answer');
    expect(await readFile(secret, 'utf8')).toBe('the hidden answer');
  });

  it('say in the report when the attempt belongs to another pod', async () => {
    await using first = await pod({ trialDir: join(folder, 'taken') });
    expect((await first.run()).code).toBe(0);
    await using second = await pod({ trialDir: join(folder, 'taken'), podUID: 'another-uid' });
    // Its shim would wait for a harness for minutes; the controller deletes the pod.
    const { code } = await second.startHarness().ended;
    expect(code).toBe(1);
    expect(second.report()).toMatchObject({
      step: 'staging',
      result: null,
      fault: { reason: 'AttemptTaken' },
    });
    expect(readJson(join(first.attemptDir, 'result.json'))).toMatchObject({ podUID: 'pod-uid' });
  });

  it("carry the agent's model calls to the run's gateway, with a token that the agent never sees", async () => {
    const gateway = await startGateway({
      model: modelSpecSchema.parse({ id: 'a-model', api: 'scripted' }),
      secret: 'a-secret-of-the-run',
      apiKey: null,
      journalDir: join(folder, 'gateway'),
      host: '127.0.0.1',
      ports: { model: 0, control: 0, metrics: 0, health: null },
      onNote: () => undefined,
      onFault: () => undefined,
    });
    try {
      const token = mintToken('a-secret-of-the-run', {
        trial: 'a-trial',
        attempt: 1,
        podName: 'a-trial-1',
        role: 'agent',
        exp: Math.ceil(Date.now() / 1000) + 600,
      });
      await using here = await pod({
        request: { modelId: 'a-model', gatewayUrl: `http://127.0.0.1:${gateway.ports.model}` },
      });
      here.startExecutor();
      const { code, stderr } = await here.startHarness({
        CLAWBENCH_GATEWAY_TOKEN: token,
        CLAWBENCH_MODEL_PORT: String(await freePort()),
      }).ended;
      expect(code, stderr).toBe(0);
      const { result } = here.report();
      if (result === null) throw new Error('no result');
      expect(classifyAttempt({ result })).toMatchObject({ class: null });
      const calls = (await readFile(join(here.attemptDir, 'model-calls.jsonl'), 'utf8')).trim().split('\n');
      expect(calls.map((line) => JSON.parse(line) as unknown)).toMatchObject([
        { trial: 'a-trial', attempt: 1, role: 'agent', ordinal: 1, end: 'answered', error: null },
      ]);
      expect(readJson(join(here.attemptDir, 'usage.json'))).toMatchObject({ source: 'gateway' });
      expect(readFileSync(join(here.mount('state'), 'plan.json'), 'utf8')).not.toContain(token);
    } finally {
      await gateway.drain(0);
    }
  });

  it('say what is wrong with a request', async () => {
    await using here = await pod();
    const { code, stderr } = await here.startHarness({ CLAWBENCH_REQUEST: '{"trial": 1}' }).ended;
    expect(code).toBe(2);
    expect(stderr).toContain('CLAWBENCH_REQUEST.trial');
  });
});
