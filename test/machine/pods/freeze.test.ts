import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ENV } from '../../../src/api/pod-contract.ts';
import { prepareReportSchema } from '../../../src/api/step-report.ts';
import { cli } from '../../support/cli.ts';
import { writeSmallSuite } from '../../support/small-suite.ts';
import { readJson } from '../attempt/support.ts';
import { RUN, RunHere, UID } from './run-here.ts';

let folder: string;
let suite: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'clawbench-freeze-'));
  suite = join(folder, 'my-suite');
  await writeSmallSuite(suite);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const SPEC = { suite: { configMap: { name: 'a-suite' } }, runtime: { id: 'scripted' }, trialsPerScenario: 2 };
const message = (env: Record<string, string>) =>
  prepareReportSchema.parse(readJson(env[ENV.TERMINATION_LOG] ?? ''));

describe('freeze and publish-index', () => {
  it("take a suite from an archive, make the trials' folders and name the run's objects", async () => {
    const run = new RunHere(folder, SPEC);
    const archive = join(folder, 'suite.tar.gz');
    execFileSync('tar', ['-czf', archive, '-C', folder, 'my-suite']);
    const report = await run.prepare({ suitePath: archive, archive: true });
    expect(report).toMatchObject({ ok: true, scenarios: 2, declaredTrials: 4, parts: 1 });
    expect(await readdir(run.layout.trials)).toHaveLength(4);
    expect(existsSync(run.layout.gateway)).toBe(true);
    expect(readJson(run.layout.runJson)).toMatchObject({
      name: RUN.runName,
      uid: UID,
      createdAt: '2026-01-01T00:00:00Z',
      declaredTrials: 4,
      facts: { isolation: 'container', host: 'unavailable', runtimeId: 'scripted' },
    });
    expect(run.api.get('configmaps', 'mixed-index-0')).toMatchObject({
      metadata: { ownerReferences: [{ kind: 'BenchmarkRun', uid: UID, controller: true }] },
    });
    await run.prepare({ suitePath: archive, archive: true });
    expect(run.api.writes.filter((what) => what.startsWith('create'))).toHaveLength(2);
    expect(run.api.objects.size).toBe(2);
  });

  it('refuse a ConfigMap of the same name that is not of this run', async () => {
    const run = new RunHere(folder, SPEC);
    run.api.put('configmaps', { metadata: { name: 'mixed-index-0' }, data: {} });
    await expect(run.prepare({ suitePath: suite, archive: false })).rejects.toThrow(
      'ConfigMap mixed-index-0 exists and is not the index of this run',
    );
  });

  it('say what is wrong with a specification, for a condition, and end with code 2', async () => {
    const run = new RunHere(folder, SPEC);
    const spec = { ...SPEC, paralellism: 3, runtime: { id: 'scripted', behaviour: 'solv' } };
    const env = await run.env('wrong', { ...RUN, createdAt: '', spec, suitePath: suite, archive: false });
    const { code, stderr } = await cli(['prepare', 'freeze'], env);
    expect(code).toBe(2);
    const said = message(env);
    expect(said).toMatchObject({ ok: false, reason: 'SpecInvalid', retry: false });
    for (const text of [stderr, said.ok ? '' : said.message]) {
      expect(text).toContain('BenchmarkRun mixed: spec.paralellism');
      expect(text).toContain('spec.runtime.behaviour');
      expect(text).not.toMatch(/\n\s+at /);
    }
  });

  it('say what is wrong with a suite before anything is written', async () => {
    const run = new RunHere(folder, { ...SPEC, runtime: { id: 'scripted', behaviour: 'unsafe' } });
    await writeFile(join(suite, 'scenarios', 's1.yaml'), 'id: s1\ndimension: nonsense\n');
    const env = await run.env('wrong', {
      ...RUN,
      createdAt: '',
      spec: run.spec,
      suitePath: suite,
      archive: false,
    });
    const { code } = await cli(['prepare', 'freeze'], env);
    expect(code).toBe(2);
    const said = message(env);
    expect(said).toMatchObject({ ok: false, reason: 'SuiteInvalid' });
    expect(said.ok ? '' : said.message).toContain('scenarios/s1.yaml');
    expect(existsSync(run.layout.runJson)).toBe(false);
  });

  it('find scripts that are missing', async () => {
    const run = new RunHere(folder, { ...SPEC, runtime: { id: 'scripted', behaviour: 'unsafe' } });
    await expect(run.prepare({ suitePath: suite, archive: false })).rejects.toThrow('unsafe');
  });

  it('go on where a try was killed', async () => {
    const run = new RunHere(folder, SPEC);
    await run.prepare({ suitePath: suite, archive: false });
    // As a kill between the suite and run.json leaves it.
    await rm(run.layout.runJson);
    await writeFile(join(run.layout.root, '.run.json.1-1.tmp'), '{');
    await run.prepare({ suitePath: suite, archive: false });
    expect(await readFile(run.layout.runJson, 'utf8')).toContain(UID);
    expect((await readdir(run.layout.root)).filter((name) => name.startsWith('.'))).toEqual([]);
  });
});
