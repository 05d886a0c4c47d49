import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TrialRow } from '../../../src/api/report.ts';
import { cli } from '../../support/cli.ts';

/** A row without what clocks and digests make different. */
export function comparable(row: TrialRow): Partial<TrialRow> {
  const { runtime_ms: _runtime, wall_clock_ms: _wall, artifact_digest: _digest, ...rest } = row;
  return rest;
}

/** Rows of `clawbench local` of the same file. */
export async function localRows(run: object): Promise<TrialRow[]> {
  const folder = await mkdtemp(join(tmpdir(), 'clawbench-local-'));
  try {
    const file = join(folder, 'run.yaml');
    await writeFile(file, JSON.stringify(run));
    const { stderr } = await cli(['local', '-f', file, '-o', join(folder, 'out')]);
    const text = await readFile(join(folder, 'out', 'report', 'trials.jsonl'), 'utf8').catch(() => {
      throw new Error(`clawbench local wrote no report: ${stderr}`);
    });
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as TrialRow);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
