import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { trialStatusSchema } from '../../../src/api/trial-resource.ts';
import {
  configFor,
  createRun,
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

/** Runs that go on at the same time; each has a namespace and controllers of its own. */
const AT_ONCE = 4;

/**
 * A run of two trials, one of which fails once for the machine, with a controller that ends after its n-th write, and
 * then another that brings it to its end.
 */
async function runStoppedAfter(writes: number): Promise<{ readonly madeAll: boolean }> {
  const namespace = `stopped-${writes}`;
  await makeNamespace(cluster, namespace);
  const failing = new Set<string>();
  const node = fakeNode(cluster, namespace, ['one', 'two'], ({ trial, number }) => {
    if (failing.size === 0) failing.add(trial);
    return failing.has(trial) && number === 1
      ? { observations: [{ kind: 'setup_failed', message: 'no' }], collected: false }
      : {};
  });
  await createRun(cluster, namespace, 'smoke', runSpec());
  const first = startController(cluster, configFor(namespace), { writes });
  const completed = waitForRun(cluster, namespace, 'smoke', (run) => isTrue(run, 'Complete'), 90_000);
  const madeAll = await Promise.race([
    first.exhausted.then(() => false),
    completed.then(
      () => true,
      () => true,
    ),
  ]);
  await first.stop();
  const second = madeAll ? null : startController(cluster, configFor(namespace));
  const run = await completed;
  // Trailing writes: pods that ended well are deleted, the finalizer goes.
  const released = (candidate: typeof run) => (candidate.metadata.finalizers ?? []).length === 0;
  if (second !== null) await waitForRun(cluster, namespace, 'smoke', released);
  await second?.stop();
  await node.stop();

  const trials = (await trialsOf(cluster, namespace)).map(({ status }) => trialStatusSchema.parse(status));
  const where = `stopped after ${writes} writes`;
  expect(
    trials.map(({ phase, outcome }) => [phase, outcome]),
    where,
  ).toEqual([
    ['Scored', 'pass'],
    ['Scored', 'pass'],
  ]);
  const attempts = trials.map((trial) => trial.attempts.map(({ number, reason }) => [number, reason]));
  const clean = [[1, null]];
  const retried = [
    [1, 'SetupFailed'],
    [2, null],
  ];
  expect(
    attempts.sort((left, right) => left.length - right.length),
    where,
  ).toEqual([clean, retried]);
  expect(run.status?.progress, where).toBe('2/2');
  expect(run.status?.counts?.byOutcome, where).toEqual({ pass: 2 });
  expect(node.overlaps, where).toEqual([]);
  expect(
    [...node.ran.values()].filter((uids) => uids.size !== 1),
    where,
  ).toEqual([]);
  return { madeAll };
}

describe('a controller that ends after any of its writes', () => {
  it('has another one bring the run to the same end', async () => {
    let next = 0;
    let complete = false;
    const worker = async (): Promise<void> => {
      while (!complete) {
        const writes = next;
        next += 1;
        if ((await runStoppedAfter(writes)).madeAll) complete = true;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    // Fewer would mean that the stop was never where the work is.
    expect(next).toBeGreaterThan(25);
  }, 900_000);
});
