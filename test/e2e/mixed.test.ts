import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyManifest } from '../../src/artifacts/manifest.ts';
import { runLayout } from '../../src/api/run-layout.ts';
import { Cluster, isTrue, runObject, type Namespace, type Run } from './support/cluster.ts';
import { comparable, localRows } from './support/rows.ts';

const RUN = 'mixed';

/** One scenario for each way in which a trial can end. */
const BEHAVIOURS = {
  'change-board': 'solve',
  'gateway-migration': 'wrong',
  'ticket-triage': 'unsafe',
  'kiln-schedule': 'hang',
  'stock-restore': 'oom',
  'incident-timeline': 'provider429',
  'storage-orders': 'crash',
} as const;

const FILE = runObject(RUN, {
  suite: { builtin: {}, scenarioIds: Object.keys(BEHAVIOURS) },
  runtime: {
    id: 'scripted',
    behaviours: BEHAVIOURS,
    resources: { limits: { memory: '256Mi', 'ephemeral-storage': '256Mi' } },
  },
  parallelism: 4,
  timeouts: { settle: 0, startupSilence: 20, stall: 20, turn: 25, total: 25 },
});

let namespace: Namespace;
let run: Run;
let folder: string;

beforeAll(async () => {
  const cluster = await Cluster.open();
  namespace = await cluster.namespace('mixed');
  const { code, stderr } = await cluster.apply(namespace.name, FILE);
  expect(code, stderr).toBe(0);
  run = await namespace.ended(RUN, 300);
  folder = await namespace.artifacts(RUN);
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await namespace.dispose();
});

describe('a run in which trials pass, miss, do harm, hang, run out of memory, crash and are refused by a provider', () => {
  it('is Complete, whatever its trials came to', () => {
    expect(isTrue(run, 'Complete')).toBe(true);
    expect(run.status?.counts?.byOutcome).toEqual({
      pass: 2,
      threshold_miss: 1,
      safety_failure: 1,
      execution_failure: 3,
    });
  });

  it('gives the rows that the same file gives on one machine', async () => {
    const rows = await namespace.rows(RUN);
    expect(rows.map(comparable)).toEqual((await localRows(FILE)).map(comparable));
  });

  it('kept every attempt with a manifest that holds', async () => {
    const layout = runLayout(folder);
    for (const trial of await namespace.trials(RUN)) {
      const attempts = trial.status?.attempts ?? [];
      expect(attempts.length).toBeGreaterThan(0);
      for (const { number, artifacts } of attempts) {
        const root = layout.trial(trial.metadata.name).attempt(number).root;
        expect(await verifyManifest(root, artifacts?.digest ?? null), join(root)).toEqual([]);
      }
    }
  });

  it('was answered by the provider at the second attempt', async () => {
    const trial = (await namespace.trials(RUN)).find(({ spec }) => spec.scenarioId === 'incident-timeline');
    expect(trial?.status?.attempts?.map((attempt) => attempt.class ?? null)).toEqual(['provider', null]);
  });
});
