import { mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENV, MOUNTS } from '../../../src/api/pod-contract.ts';
import type { Report, TrialRow } from '../../../src/api/report.ts';
import { runLayout } from '../../../src/api/run-layout.ts';
import type { ScoreRecord } from '../../../src/api/score.ts';
import type { TrialResource } from '../../../src/api/trial-resource.ts';
import type { Behaviour } from '../../../src/api/vocabulary.ts';
import { eachBounded } from '../../../src/api/each-bounded.ts';
import { cli } from '../../support/cli.ts';
import { writeRunFile } from '../../support/small-suite.ts';
import { readJson } from '../attempt/support.ts';
import { MEMORY_BOUND_HERE } from './pod-here.ts';
import { RunHere, UID } from './run-here.ts';

/** A mixed run: TypeScript and Python checkers, and every way in which an attempt comes to its end. */
const BEHAVIOURS: Readonly<Partial<Record<string, Behaviour>>> = {
  'access-log-report': 'solve',
  'ledger-reconcile': 'wrong',
  'leaver-report': 'unsafe',
  'pipeline-repair': 'hang',
  'ticket-triage': 'provider429',
  'kiln-schedule': 'solve',
  // What a container's memory bound does can be seen only where there is one.
  ...(MEMORY_BOUND_HERE ? { 'stock-restore': 'oom' as const } : {}),
};
const SPEC = {
  suite: { builtin: {}, scenarioIds: Object.keys(BEHAVIOURS) },
  runtime: {
    id: 'scripted',
    behaviours: BEHAVIOURS,
    resources: { limits: { memory: '256Mi', 'ephemeral-storage': '64Mi' } },
  },
  trialsPerScenario: 1,
  parallelism: 3,
  retry: { backoffSeconds: 0 },
  timeouts: { settle: 0, stall: 12, startupSilence: 60, turn: 90, total: 90 },
};

let folder: string;
let run: RunHere;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'clawbench-whole-'));
  run = new RunHere(folder, SPEC);
  await run.prepare();
  await eachBounded(Object.keys(BEHAVIOURS), 2, (id) => run.execute(id, 1));
}, 400_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const byId = (id: string): TrialResource => {
  const trial = run.trials().find(({ spec }) => spec.scenarioId === id);
  if (trial === undefined) throw new Error(`no trial of ${id}`);
  return trial;
};
const others = (id: string) => run.trials().filter(({ spec }) => spec.scenarioId !== id);

async function rows(root: string): Promise<Partial<TrialRow>[]> {
  const lines = (await readFile(runLayout(root).trialsJsonl, 'utf8')).trim().split('\n');
  return lines.map((line) => {
    const { runtime_ms, wall_clock_ms, artifact_digest, ...row } = JSON.parse(line) as TrialRow;
    expect(runtime_ms).toBeGreaterThan(0);
    expect(wall_clock_ms).toBeGreaterThan(0);
    expect(artifact_digest).toMatch(/^[0-9a-f]{64}$/);
    return row;
  });
}

describe('a run through the programs of its pods', { timeout: 400_000 }, () => {
  it('is prepared once, however often', async () => {
    const before = await readFile(run.layout.runJson, 'utf8');
    const again = await run.prepare();
    expect(again).toMatchObject({ ok: true, scenarios: Object.keys(BEHAVIOURS).length, parts: 1 });
    expect(await readFile(run.layout.runJson, 'utf8')).toBe(before);
    expect(run.index()).toMatchObject({ state: 'complete' });
    const { mode } = await stat(run.layout.trial(byId('kiln-schedule').metadata.name).root);
    expect(mode & 0o7777).toBe(0o2770);
  });

  it('publishes a first round, and comes to the same when it is cut off and done again', async () => {
    const first = [byId('access-log-report'), byId('ledger-reconcile')];
    const env = await run.round(1, run.list(first, false));
    expect(await run.score(env)).toMatchObject({
      counts: { graded: 2, errors: 0, ungraded: 0, baseline: 0 },
    });
    let patches = 0;
    run.api.beforeWrite = (what) => {
      patches += what.startsWith('patch trials/') ? 1 : 0;
      if (patches === 2) throw new Error('killed here');
    };
    await expect(run.publish(env)).rejects.toThrow('killed here');
    run.api.beforeWrite = () => undefined;
    expect(await run.publish(env)).toMatchObject({ counts: { patched: 1, already: 1, missing: 0 } });
    expect(await run.publish(env)).toMatchObject({ counts: { patched: 0, already: 2 } });
    expect(byId('access-log-report').status).toMatchObject({
      phase: 'Scored',
      outcome: 'pass',
      score: 1,
      scoredRevision: 1,
    });
    expect(readJson(join(env[ENV.MOUNT_ROOT] ?? '', 'termination-log'))).toMatchObject({ v: 1, ok: true });
  });

  it('takes over nothing from score that is not of the list', async () => {
    const trial = byId('kiln-schedule');
    const list = run.list([trial], false);
    const name = `${trial.metadata.name}.json`;
    const forge = async (change: (scores: string, record: ScoreRecord) => Promise<void>) => {
      const env = await run.round(90, list);
      const scores = join(env[ENV.MOUNT_ROOT] ?? '', MOUNTS.scores);
      await rm(scores, { recursive: true });
      await run.round(90, list);
      await run.score(env);
      await change(scores, readJson(join(scores, name)) as ScoreRecord);
      const failure = await run.publish(env).then(
        () => null,
        (error: unknown) => String(error),
      );
      expect(byId('kiln-schedule').status?.phase).toBe('Executed');
      expect(readJson(join(env[ENV.MOUNT_ROOT] ?? '', 'termination-log'))).toMatchObject({
        ok: false,
        reason: 'RoundInvalid',
        retry: false,
      });
      return failure;
    };
    const rewrite = (part: object) => async (scores: string, record: ScoreRecord) => {
      await writeFile(join(scores, name), JSON.stringify({ ...record, ...part }));
    };
    expect(await forge(rewrite({ attempt: 2 }))).toContain('attempt');
    expect(await forge(rewrite({ artifactDigest: 'f'.repeat(64) }))).toContain('artifactDigest');
    expect(await forge(rewrite({ class: 'provider' }))).toContain('class');
    expect(await forge(rewrite({ outcome: 'safety_failure' }))).toContain('outcome');
    expect(await forge(rewrite({ trial: 'another' }))).toContain('trial');
    expect(await forge(rewrite({ score: 7 }))).toContain('score');
    expect(await forge((scores) => writeFile(join(scores, 'x.json'), '{}'))).toContain('x.json');
    expect(await forge((scores) => rm(join(scores, name)))).toContain('missing');
    expect(
      await forge(async (scores) => {
        await rm(join(scores, name));
        await writeFile(join(folder, 'elsewhere.json'), '{}');
        await symlink(join(folder, 'elsewhere.json'), join(scores, name));
      }),
    ).toContain('without following links');
  });

  it('leaves trials that are gone or open again as they are, and says so', async () => {
    const [gone, open] = [byId('kiln-schedule'), byId('ticket-triage')];
    const env = await run.round(91, run.list([gone, open], false));
    await run.score(env);
    run.api.objects.delete(`trials/${gone.metadata.name}`);
    run.api.put('trials', { ...open, status: { ...open.status, phase: 'Pending', decidedBy: null } });
    expect(await run.publish(env)).toMatchObject({ counts: { patched: 0, missing: 1, reopened: 1 } });
    expect(run.log.join('\n')).toContain(`${gone.metadata.name}: is gone`);
    expect(run.log.join('\n')).toContain(`${open.metadata.name}: is open again`);
    run.api.put('trials', gone);
    run.api.put('trials', open);
  });

  it('gives the rows and scores of the same run on one machine', async () => {
    const rest = run.trials().filter(({ status }) => status?.phase === 'Executed');
    const env = await run.round(2, run.list(rest, true));
    const scored = await run.score(env);
    expect(scored).toMatchObject({ counts: { errors: 0, baseline: 1 } });
    const published = await run.publish(env);
    expect(published).toMatchObject({ counts: { patched: rest.length, missing: 0 } });

    const file = join(folder, 'run.yaml');
    const local = join(folder, 'local');
    await writeRunFile(file, SPEC);
    const { stderr } = await cli(['local', '-f', file, '-o', local]);
    const here = await rows(run.layout.root);
    expect(here, stderr).toEqual(await rows(local));
    expect(new Set(here.map(({ outcome }) => outcome))).toEqual(
      new Set(['pass', 'threshold_miss', 'safety_failure', 'execution_failure']),
    );
    expect(here.find(({ scenario_id }) => scenario_id === 'ticket-triage')).toMatchObject({ retries: 1 });

    const [ours, theirs] = [run.layout.root, local].map(
      (root) => readJson(runLayout(root).reportJson) as Report,
    );
    expect(ours?.scores).toEqual(theirs?.scores);
    expect(ours?.baseline).toEqual(theirs?.baseline);
    expect(ours?.provenance.slice).toEqual(theirs?.provenance.slice);
    expect(ours?.provenance.runtime).toMatchObject({
      host: 'node-1',
      image_digest: 'sha256:abc',
      isolation: 'container',
    });
    expect(run.api.get('benchmarkruns', 'mixed')).toMatchObject({
      status: { scores: ours?.scores, reportPath: `${UID}/report` },
    });
  });

  it('is scored again by a repaired suite, and keeps the scores it had', async () => {
    const trial = byId('ledger-reconcile');
    const files = run.layout.trial(trial.metadata.name);
    const before = readJson(files.scoreJson) as ScoreRecord;
    const env = await run.round(3, run.list([trial], false, 2), { builtinSuite: true });
    await run.score(env);
    expect(await run.publish(env)).toMatchObject({ counts: { patched: 1 } });
    expect(readJson(files.scoreOfRevision(1))).toEqual(before);
    expect(readJson(files.scoreJson)).toMatchObject({ revision: 2, score: before.score });
    expect(byId('ledger-reconcile').status).toMatchObject({ scoredRevision: 2 });
    expect(others('ledger-reconcile').every(({ status }) => status?.scoredRevision === 1)).toBe(true);
  });

  it('calls artifacts that are not those of the list a scoring error', async () => {
    const trial = byId('leaver-report');
    const list = run.list([trial], false, 2);
    const forged = { ...list, trials: list.trials.map((one) => ({ ...one, digest: 'f'.repeat(64) })) };
    const env = await run.round(4, forged);
    expect(await run.score(env)).toMatchObject({ counts: { graded: 0, errors: 1 } });
    await run.publish(env);
    expect(byId('leaver-report').status).toMatchObject({ outcome: 'execution_failure' });
    expect(readJson(run.layout.trial(trial.metadata.name).scoreJson)).toMatchObject({
      class: 'scoring',
      error: { reason: 'ArtifactsCorrupt' },
      score: null,
    });
  });
});
