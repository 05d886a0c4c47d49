import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createRun,
  configFor,
  fakeNode,
  isTrue,
  makeNamespace,
  runSpec,
  startCluster,
  startController,
  trialsOf,
  waitForRun,
  type TestCluster,
} from './cluster.ts';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

const LOG = process.env['CLAWBENCH_TEST_LOG'] === undefined ? {} : { log: printing() };

function printing() {
  const print = (fields: object, message: string) => {
    process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);
  };
  return { debug: () => undefined, info: print, warn: print };
}

describe('a run against a real API server', () => {
  it('goes from a declaration to Complete, each trial scored once', async () => {
    const namespace = 'whole';
    await makeNamespace(cluster, namespace);
    const node = fakeNode(cluster, namespace, ['one', 'two']);
    const controller = startController(cluster, configFor(namespace), LOG);
    await createRun(cluster, namespace, 'smoke', runSpec());
    const run = await waitForRun(cluster, namespace, 'smoke', (candidate) => isTrue(candidate, 'Complete'));
    const trials = await trialsOf(cluster, namespace);
    await controller.stop();
    await node.stop();
    expect(trials.map(({ status }) => [status?.phase, status?.outcome, status?.attempts?.length])).toEqual([
      ['Scored', 'pass', 1],
      ['Scored', 'pass', 1],
    ]);
    expect(run.status?.progress).toBe('2/2');
    expect(run.status?.rowStatus).toBe('clean_base');
    expect(run.status?.phase).toBe('Completed');
    expect(run.status?.provenance?.['runtimeImageDigest']).toBe(`sha256:${'a'.repeat(64)}`);
    expect(node.overlaps).toEqual([]);
    expect([...node.ran.values()].every((uids) => uids.size === 1)).toBe(true);
  });
});
