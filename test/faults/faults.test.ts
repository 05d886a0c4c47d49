import { beforeAll, describe, expect, it } from 'vitest';
import { Cluster } from '../e2e/support/cluster.ts';
import { AGENT_FAULTS } from './rows/agent.ts';
import { CLUSTER_FAULTS } from './rows/cluster.ts';
import { POD_FAULTS } from './rows/pods.ts';
import { RUN_FAULTS } from './rows/runs.ts';
import { SCORING_FAULTS } from './rows/scoring.ts';
import { SETUP_FAULTS } from './rows/setup.ts';
import type { FaultTest } from './fault.ts';
import { faultTable, type FaultRow } from './table.ts';

const TESTS: Readonly<Record<string, FaultTest>> = {
  ...SETUP_FAULTS,
  ...AGENT_FAULTS,
  ...POD_FAULTS,
  ...RUN_FAULTS,
  ...SCORING_FAULTS,
  ...CLUSTER_FAULTS,
};
const ALL = process.env['CLAWBENCH_FAULTS'] === 'all';
const ROWS = faultTable();

let cluster: Cluster;
beforeAll(async () => {
  cluster = await Cluster.open();
});

/** Provokes the fault in a namespace of its own and holds what came of it against the row. */
async function holds(row: FaultRow): Promise<void> {
  const provoke = TESTS[row.id];
  if (provoke === undefined) throw new Error(`no test provokes ${row.id}`);
  const namespace = await cluster.namespace(`fault-${row.id}`.slice(0, 50), provoke.labels);
  try {
    const seen = await provoke.run(namespace);
    const asSaid = {
      class: row.class === '*' ? seen.class : row.class,
      reason: row.reason === '*' ? seen.reason : row.reason,
      attempts: row.attempts === '*' ? seen.attempts : row.attempts,
    };
    const { says, ...rest } = seen;
    expect(rest, await namespace.describe()).toEqual(asSaid);
    if (row.says !== null) expect(says).toContain(row.says);
  } finally {
    await namespace.dispose();
  }
}

describe('the fault table', () => {
  it('has one test a row', () => {
    expect(Object.keys(TESTS).sort()).toEqual(ROWS.map(({ id }) => id).sort());
  });

  describe('side by side', () => {
    it.concurrent.each(ROWS.filter(({ runs, alone }) => !alone && (ALL || runs === 'ci')))(
      '$id: $done',
      holds,
    );
  });

  describe('one by one', () => {
    it.each(ROWS.filter(({ runs, alone }) => alone && (ALL || runs === 'ci')))('$id: $done', holds);
  });
});
