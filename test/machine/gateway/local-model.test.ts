import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AttemptResult, Usage } from '../../../src/api/attempt.ts';
import type { TrialRecord } from '../../../src/api/trial.ts';
import { cli } from '../../support/cli.ts';
import { writeRunFile, writeSmallSuite } from '../../support/small-suite.ts';

let folder: string;
let out: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'local-model-'));
  out = join(folder, 'out');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function run(spec: {
  readonly scripted?: object;
  readonly model?: object;
  readonly runtime?: object;
  readonly env?: Record<string, string>;
  readonly before?: Record<string, unknown>[];
}) {
  const [suite, file] = [join(folder, 'suite'), join(folder, 'run.yaml')];
  await writeSmallSuite(suite, { scenarios: 1, before: spec.before ?? [] });
  await writeRunFile(file, {
    trialsPerScenario: 1,
    model: { id: 'm', api: 'scripted', parameters: { scripted: spec.scripted ?? {} }, ...spec.model },
    runtime: { id: 'scripted', config: { model: { retries: 1, backoffMs: 10 } }, ...spec.runtime },
  });
  return await cli(['local', '-f', file, '-o', out, '--suite', suite], spec.env);
}

async function trialOnDisk() {
  const [name = ''] = await readdir(join(out, 'trials'));
  const root = join(out, 'trials', name);
  const json = async <T>(...path: string[]) => JSON.parse(await readFile(join(root, ...path), 'utf8')) as T;
  return {
    record: await json<TrialRecord>('trial.json'),
    result: (attempt: number) => json<AttemptResult>('attempts', String(attempt), 'result.json'),
    usage: (attempt: number) => json<Usage>('attempts', String(attempt), 'usage.json'),
    calls: async (attempt: number) =>
      (await readFile(join(root, 'attempts', String(attempt), 'model-calls.jsonl'), 'utf8'))
        .trim()
        .split('\n'),
  };
}

describe('clawbench local with a model', () => {
  it('runs an attempt again that its provider refused, and the next one passes', async () => {
    const { code } = await run({ scripted: { respond: { status: 429, retryAfterSeconds: 0, attempts: 1 } } });
    expect(code).toBe(0);
    const { record, result, usage, calls } = await trialOnDisk();
    expect(record.attempts.map((attempt) => [attempt.class, attempt.reason])).toEqual([
      ['provider', 'ProviderRateLimit'],
      [null, null],
    ]);
    expect(record).toMatchObject({ outcome: 'pass', score: 1 });
    expect((await result(1)).observations).toContainEqual(
      expect.objectContaining({ kind: 'provider_error', final: true, confirmed: true, status: 429 }),
    );
    expect(await calls(1)).toHaveLength(2);
    expect(await usage(1)).toMatchObject({ totalTokens: 0, source: 'gateway' });
    expect(await usage(2)).toMatchObject({ source: 'gateway', costUsd: 0, outputTokens: 11 });
  });

  it('recovers within an attempt from a refusal that passes', async () => {
    const { code } = await run({ scripted: { respond: { status: 500, times: 1 } } });
    expect(code).toBe(0);
    const { record, result } = await trialOnDisk();
    expect(record.attempts).toHaveLength(1);
    expect((await result(1)).observations).toContainEqual(
      expect.objectContaining({ kind: 'provider_error', final: false, confirmed: true }),
    );
  });

  it('does not believe an agent that blames its provider', async () => {
    const { code } = await run({ runtime: { behaviour: 'provider429' } });
    expect(code).toBe(1);
    const { record, result } = await trialOnDisk();
    expect(record.attempts.map((attempt) => [attempt.class, attempt.reason])).toEqual([
      ['agent', 'AgentCrash'],
    ]);
    const claims = (await result(1)).observations.filter(({ kind }) => kind === 'provider_error');
    expect(claims).not.toEqual([]);
    for (const claim of claims) expect(claim).toMatchObject({ final: false, confirmed: false });
  });

  it.each([
    [401, 'ModelAuthentication'],
    [404, 'ModelNotFound'],
  ])('starts no trial when the model answers with %d', async (status, reason) => {
    const { code, stderr } = await run({ scripted: { respond: { status } } });
    expect(code).toBe(1);
    expect(stderr).toContain(`${reason}: the model answered with status ${status}`);
    const { record } = await trialOnDisk();
    expect(record.attempts).toEqual([]);
  });

  it('asks again before it gives the model up', async () => {
    const { code } = await run({ scripted: { respond: { status: 503, times: 1, per: 'run' } } });
    expect(code).toBe(0);
    expect((await trialOnDisk()).record.attempts).toHaveLength(1);
  });

  it('wants the key that the file names, and shows it to no agent', async () => {
    const model = { apiKeySecretRef: { name: 'keys', key: 'provider' } };
    const without = await run({ model, env: { CLAWBENCH_API_KEY: '' } });
    expect(without.code).toBe(2);
    expect(without.stderr).toContain(
      'spec.model.apiKeySecretRef: on one machine the key is the environment variable',
    );
    expect(existsSync(out)).toBe(false);
    const before = [{ shell: 'env > seen.txt; cat /proc/*/environ >> seen.txt 2>/dev/null; true' }];
    const withKey = await run({ model, before, env: { CLAWBENCH_API_KEY: 'sk-very-secret-key' } });
    expect(withKey.code).toBe(0);
    const { record } = await trialOnDisk();
    const seen = join(out, 'trials', record.name, 'attempts/1/workspace/seen.txt');
    if (process.getuid?.() === 0) expect(await readFile(seen, 'utf8')).not.toContain('sk-very-secret-key');
    const journal = await readFile(join(out, 'gateway/journal.jsonl'), 'utf8');
    expect(journal).not.toContain('sk-very-secret-key');
  });

  it('refuses parameters that the scripted model does not know', async () => {
    const { code, stderr } = await run({ scripted: { respnd: { status: 429 } } });
    expect(code).toBe(2);
    expect(stderr).toContain('spec.model.parameters.scripted');
    expect(existsSync(out)).toBe(false);
  });
});
