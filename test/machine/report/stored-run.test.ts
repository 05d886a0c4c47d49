import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../../src/api/errors.ts';
import { trialName } from '../../../src/api/names.ts';
import { reportSchema, trialRowSchema } from '../../../src/api/report.ts';
import { buildReport } from '../../../src/report/build-report.ts';
import { terminalReport } from '../../../src/report/terminal.ts';
import { writeReport } from '../../../src/report/write-report.ts';
import { sha256 } from '../../../src/files/digest.ts';
import { writeStoredRun, type StoredRunOptions } from '../../support/stored-run.ts';
import { FATES } from '../../support/trial-fates.ts';

const folders: string[] = [];

async function storedRun(options: Partial<StoredRunOptions> = {}) {
  const root = await mkdtemp(join(tmpdir(), 'clawbench-report-'));
  folders.push(root);
  return writeStoredRun(root, { scenarios: 6, trials: 3, fateOf: () => FATES.pass, ...options });
}

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

describe('the report of a stored run', () => {
  it('writes every file, each valid, and the same bytes when made again', async () => {
    const layout = await storedRun({ scenarios: 12, seed: 3, fateOf: undefined });
    const paths = [layout.reportJson, layout.trialsJsonl, layout.trialsCsv, layout.reportHtml];
    await writeReport(layout.root);
    const first = await Promise.all(paths.map((path) => readFile(path, 'utf8')));
    await writeReport(layout.root);
    const second = await Promise.all(paths.map((path) => readFile(path, 'utf8')));
    expect(second.map(sha256)).toEqual(first.map(sha256));
    const [json = '', lines = '', csv = ''] = first;
    expect(reportSchema.strict().parse(JSON.parse(json))).toEqual(JSON.parse(json));
    const rows = lines.trimEnd().split('\n');
    expect(rows).toHaveLength(36);
    for (const row of rows) trialRowSchema.parse(JSON.parse(row));
    expect(csv.split('\r\n').filter((line) => line !== '')).toHaveLength(37);
  });

  it('binds the numbers to the rows by the digest of trials.jsonl', async () => {
    const layout = await storedRun();
    const { report } = await writeReport(layout.root);
    expect(report.provenance.evidence.source_report_sha256).toBe(sha256(await readFile(layout.trialsJsonl)));
  });

  it('is complete and clean when every trial passed', async () => {
    const { report } = await buildReport((await storedRun({ facts: { runtimeId: 'nanobot' } })).root);
    expect(report).toMatchObject({
      complete: true,
      incomplete_reasons: [],
      diagnostic_reasons: [],
      row_status: 'clean_base',
      denominators: { started: 18, graded: 18 },
      undetermined: [],
      scores: { overall: 1, final: 1, strict: { weighted: 1, unweighted: 1 } },
      counts: { declared: 18, started: 18, graded: 18, passed: 18, not_ended: 0 },
    });
  });

  it('keeps both denominators where trials could not be graded', async () => {
    const layout = await storedRun({
      fateOf: (scenario, trial) => (scenario === 0 && trial === 1 ? FATES.infrastructure : FATES.pass),
    });
    const { report } = await buildReport(layout.root);
    expect(report.denominators).toEqual({ started: 18, graded: 17 });
    expect(report.scores.overall).toBeLessThan(1);
    expect(report.scores_graded.overall).toBe(1);
    expect(report.undetermined).toEqual(['tool_use_0001']);
    expect(report.row_status).toBe('base_with_execution_failure');
  });

  it('says that a run is not complete while trials are missing', async () => {
    const layout = await storedRun({ fateOf: (_, trial) => (trial === 3 ? undefined : FATES.pass) });
    const { report, rows } = await buildReport(layout.root);
    expect(rows).toHaveLength(12);
    expect(report.complete).toBe(false);
    expect(report.incomplete_reasons).toEqual(['6 of 18 trials have not ended']);
    expect(report.provenance.slice.row_slice).toBe('diagnostic');
  });

  it('says that a part of a suite is not complete', async () => {
    const { report } = await buildReport((await storedRun({ index: { partial: true } })).root);
    expect(report).toMatchObject({
      complete: false,
      incomplete_reasons: ['the selection takes only a part of the suite'],
    });
  });

  it('flags scenarios where doing nothing earns something, and says where that was not measured', async () => {
    const flagged = await buildReport((await storedRun({ baseline: (i) => (i === 2 ? 0.35 : 0) })).root);
    expect(flagged.report.baseline).toMatchObject({
      flagged: [{ scenario_id: 'constraints_0003', score: 0.35 }],
      unmeasured: [],
    });
    const without = await buildReport((await storedRun({ baseline: false })).root);
    expect(without.report.baseline).toBe('unavailable');
    expect(without.report.provenance.evidence.noop_baseline_sha256).toBe('unavailable');
  });

  it('does not use the baseline of another suite', async () => {
    const layout = await storedRun();
    const baseline = { schema_version: 1, suiteDigest: 'another', scorerVersion: '1', scenarios: {} };
    await writeFile(layout.noopBaselineJson, JSON.stringify(baseline));
    expect((await buildReport(layout.root)).report.baseline).toBe('unavailable');
  });

  it('names a damaged record and still reports the others', async () => {
    const layout = await storedRun();
    const name = trialName('synthetic', '00000000-0000-4000-8000-000000000001', 'planning_0002', 2);
    await writeFile(layout.trial(name).trialJson, '{"schema_version": 1');
    const { report, rows } = await buildReport(layout.root);
    expect(rows).toHaveLength(17);
    expect(report.complete).toBe(false);
    expect(report.problems).toEqual([expect.stringMatching(/trial\.json.*is not JSON/) as string]);
  });

  it('does not use the score of an attempt that no longer stands', async () => {
    const layout = await storedRun();
    const name = trialName('synthetic', '00000000-0000-4000-8000-000000000001', 'planning_0002', 2);
    const path = layout.trial(name).scoreJson;
    const score = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
    await writeFile(path, JSON.stringify({ ...score, attempt: 9 }));
    const { report, rows } = await buildReport(layout.root);
    const row = rows.find((one) => one.scenario_id === 'planning_0002' && one.trial === 2);
    expect(row).toMatchObject({ outcome: null, score: null });
    expect(report.complete).toBe(false);
  });

  it('leaves folders out that belong to no declared trial, and says so', async () => {
    const layout = await storedRun();
    await writeFile(join(layout.trials, 'stray'), '');
    const { report } = await buildReport(layout.root);
    expect(report.problems).toEqual(['trials/stray: no declared trial has this name; it is left out']);
  });

  it('refuses a folder that is not one of a run, with a remedy and nothing written', async () => {
    const root = await mkdtemp(join(tmpdir(), 'clawbench-report-'));
    folders.push(root);
    await expect(writeReport(root)).rejects.toThrow(InvalidInputError);
    await expect(writeReport(root)).rejects.toThrow(/no run\.json.*clawbench local/);
    expect(existsSync(join(root, 'report'))).toBe(false);
  });

  it('fits a terminal of 80 columns, whatever the names', async () => {
    const layout = await storedRun({ scenarios: 60, fateOf: undefined, seed: 2 });
    const { report, rows } = await buildReport(layout.root);
    const text = terminalReport(report, rows, { reportJson: 'a', reportHtml: 'b' });
    expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(text).toMatch(/^overall +\d\.\d{4} +\d\.\d{4}–\d\.\d{4}/m);
  });
});

describe('provenance', () => {
  const unknown = 'unavailable';

  it('leaves no field empty and says unavailable where nothing is known', async () => {
    const layout = await storedRun({
      spec: {
        runtime: { id: 'nanobot' },
        model: {
          id: 'm',
          api: 'openai-completions',
          baseURL: 'https://user:secret@models.example/v1?key=secret',
        },
      },
      facts: { runtimeId: 'nanobot' },
    });
    const { report } = await buildReport(layout.root);
    const leaves = (value: unknown): unknown[] =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.values(value).flatMap(leaves)
        : [value];
    expect(leaves(report.provenance)).not.toContain(null);
    expect(leaves(report.provenance)).not.toContain(undefined);
    expect(leaves(report.provenance)).not.toContain('');
    expect(report.provenance.model).toMatchObject({ identity: 'm', endpoint: 'https://models.example/v1' });
    expect(report.provenance.sampling).toMatchObject({
      seed: unknown,
      reasoning_mode: unknown,
      replay: 'live',
    });
    expect(report.provenance.runtime.tool_schemas_sha256).toBe(unknown);
    expect(JSON.stringify(report.provenance)).not.toContain('secret');
  });

  it('binds decoding, seed and replay where they are declared', async () => {
    const layout = await storedRun({
      spec: {
        runtime: { id: 'nanobot' },
        model: {
          id: 'm',
          api: 'openai-completions',
          baseURL: 'http://localhost:1/v1',
          parameters: { temperature: 0, seed: 7, reasoning_effort: 'high' },
          cassette: { mode: 'replay' },
        },
      },
      facts: { runtimeId: 'nanobot' },
    });
    const { report } = await buildReport(layout.root);
    expect(report.provenance.sampling).toMatchObject({
      decoding: { temperature: 0, seed: 7, reasoning_effort: 'high' },
      seed: 7,
      reasoning_mode: 'high',
      replay: 'replayed',
    });
    expect(report.diagnostic_reasons).toEqual(['model answers were replayed, not measured']);
  });
});
