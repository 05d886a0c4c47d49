import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TrialRow } from '../../../src/api/report.ts';
import { BEHAVIOURS, type Behaviour } from '../../../src/api/vocabulary.ts';
import { cli } from '../../support/cli.ts';
import { writeRunFile } from '../../support/small-suite.ts';

/** What a behaviour is to come to in one scenario. */
interface Expected {
  readonly outcome: string;
  readonly class: string | null;
  readonly kill_reason: string | null;
  readonly score: number | null;
  readonly attempts: number;
}
type Table = Readonly<Record<Behaviour, Readonly<Record<string, Expected>>>>;

const TABLE = join(import.meta.dirname, 'behaviours.json');

/** Bounds scaled down where time is the subject; elsewhere they stay wide, so that a slow machine changes nothing. */
const SHORT = { startupSilence: 6, stall: 6, turn: 9, total: 9 };
const TIMEOUTS: Readonly<Partial<Record<Behaviour, Record<string, number>>>> = {
  silent: SHORT,
  hang: SHORT,
  stubborn: SHORT,
};

let folder: string;
let table: Table;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'behaviours-'));
  table = JSON.parse(await readFile(TABLE, 'utf8')) as Table;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs the built-in suite once with every agent behaving so. */
async function outcomes(behaviour: Behaviour): Promise<Record<string, Expected>> {
  const file = join(folder, `${behaviour}.yaml`);
  const out = join(folder, behaviour);
  await writeRunFile(file, {
    runtime: {
      id: 'scripted',
      behaviour,
      resources: { limits: { memory: '256Mi', 'ephemeral-storage': '32Mi' } },
    },
    // The scenarios of the table: one that is added later gets its rows when its author has looked at them.
    suite: { builtin: {}, scenarioIds: Object.keys(table[behaviour]) },
    trialsPerScenario: 1,
    parallelism: behaviour in TIMEOUTS ? 12 : 4,
    timeouts: { settle: 0, ...TIMEOUTS[behaviour] },
  });
  const { stderr } = await cli(['local', '-f', file, '-o', out]);
  const lines = (await readFile(join(out, 'report', 'trials.jsonl'), 'utf8')).trim().split('\n');
  expect(lines, stderr).toHaveLength(Object.keys(table[behaviour]).length);
  const rows = lines.map((line) => JSON.parse(line) as TrialRow);
  return Object.fromEntries(
    rows.map((row) => [
      row.scenario_id,
      {
        outcome: row.outcome ?? 'none',
        class: row.failure_class,
        kill_reason: row.kill_reason,
        score: row.score,
        attempts: row.attempts,
      },
    ]),
  );
}

describe('every behaviour over the built-in suite comes to the committed outcome, class, kill reason and score', () => {
  it('the table names every behaviour', () => {
    expect(Object.keys(table)).toEqual([...BEHAVIOURS]);
    for (const rows of Object.values(table)) expect(Object.keys(rows)).toHaveLength(12);
  });

  it.concurrent.each([...BEHAVIOURS])('%s', { timeout: 300_000 }, async (behaviour) => {
    expect(await outcomes(behaviour)).toEqual(table[behaviour]);
  });
});
