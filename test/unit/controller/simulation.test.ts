import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { holds } from '../../../src/controller/run-view.ts';
import { Crash, SimulatedCluster } from './simulated-cluster.ts';

const FATES = ['good', 'good', 'good', 'broken', 'lost', 'evicted'] as const;
const STEPS = [
  'trials',
  'pods',
  'run',
  'trial',
  'trial',
  'schedule',
  'reconcile',
  'move',
  'move',
  'round',
  'crash',
  'time',
] as const;

const step = fc.record({
  what: fc.constantFrom(...STEPS),
  index: fc.nat(50),
  fate: fc.constantFrom(...FATES),
  seconds: fc.nat(400),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** One thing that happens; a crash in the middle of it is followed by a new process. */
function take(cluster: SimulatedCluster, { what, index, fate, seconds }: Step): void {
  const names = [...cluster.api.trials.keys()];
  try {
    switch (what) {
      case 'trials':
        cluster.syncTrials();
        return;
      case 'pods':
        cluster.syncPods();
        return;
      case 'run':
        cluster.syncRun();
        return;
      case 'trial':
        cluster.reconcileTrial(names[index % Math.max(1, names.length)] ?? '');
        return;
      case 'schedule':
        cluster.schedule();
        return;
      case 'reconcile':
        cluster.reconcileRun();
        return;
      case 'move':
        cluster.movePod(index, fate);
        return;
      case 'round':
        cluster.moveRound(fate === 'broken');
        return;
      case 'crash':
        // The process dies after so many more writes; with none it is another one at once.
        if (index % 4 === 0) cluster.restart();
        else cluster.writesLeft = index % 4;
        return;
      case 'time':
        cluster.now += seconds * 1000;
    }
  } catch (thrown) {
    if (!(thrown instanceof Crash)) throw thrown;
    cluster.restart();
  }
}

function check(cluster: SimulatedCluster): void {
  expect(cluster.overlapping()).toEqual([]);
  for (const { status } of cluster.api.trials.values()) {
    const numbers = status.attempts.map(({ number }) => number);
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(new Set(status.attempts.map(({ podUID }) => podUID)).size).toBe(numbers.length);
    expect(status.attempts.filter(({ endedAt }) => endedAt === null).length).toBeLessThanOrEqual(1);
  }
}

/** The world is well from now on: everything that can go on does. */
function settle(cluster: SimulatedCluster): void {
  cluster.restart();
  for (let turn = 0; turn < 400; turn += 1) {
    if (holds(cluster.run, 'Complete') || holds(cluster.run, 'Failed')) return;
    cluster.syncAll();
    cluster.reconcileRun();
    cluster.syncAll();
    cluster.schedule();
    for (const name of cluster.api.trials.keys()) cluster.reconcileTrial(name);
    for (let pod = 0; pod < cluster.api.pods.size; pod += 1) cluster.movePod(pod, 'good');
    cluster.moveRound(false);
    cluster.now += 30_000;
    check(cluster);
  }
}

describe('the plans, before a cluster in which everything goes wrong', () => {
  it.each([
    ['a run', {}],
    ['a run that is cancelled', { cancel: true }],
  ])('bring %s to its end: no trial lost or counted twice, never two live pods of one', (_what, spec) => {
    const begun: number[] = [];
    fc.assert(
      fc.property(fc.array(step, { minLength: 150, maxLength: 300, size: 'max' }), (steps) => {
        const over = { spec: { parallelism: 2, trialsPerScenario: 2, ...spec } };
        const cluster = new SimulatedCluster(['one', 'two'], { spec: { ...over.spec, cancel: false } });
        for (const one of steps) {
          take(cluster, one);
          check(cluster);
        }
        begun.push(cluster.created.size);
        if ('cancel' in spec) cluster.respecify(over);
        settle(cluster);
        const { run } = cluster;
        expect(holds(run, 'Complete') !== holds(run, 'Failed')).toBe(true);
        expect(run.status.progress).toBe('4/4');
        const phases = [...cluster.api.trials.values()].map(({ status }) => status.phase);
        expect(phases).toHaveLength(4);
        expect(phases.every((phase) => phase === 'Scored' || phase === 'Cancelled')).toBe(true);
        if (!('cancel' in spec))
          expect(holds(run, 'Complete') && phases.every((p) => p === 'Scored')).toBe(true);
      }),
      { numRuns: 200 },
    );
    // The disorder must reach the pods, or it shows nothing: attempts were begun in most of the histories, often several.
    expect(begun.filter((pods) => pods > 0).length).toBeGreaterThan(begun.length / 2);
    expect(begun.filter((pods) => pods > 3).length).toBeGreaterThan(10);
  });
});
