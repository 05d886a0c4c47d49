import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WorkerTaskError } from '../../../src/scoring/pool/worker-task-error.ts';
import { manualPool, settle } from './pool-harness.ts';

const CPUS = 2;
const BOUNDS = { tasks: 5, inputBytes: 20 };

type Step =
  | { readonly kind: 'offer'; readonly bytes: number; readonly slow: boolean }
  | { readonly kind: 'prepared' | 'ends' | 'fails' | 'dies' | 'cancel' | 'stopped'; readonly which: number }
  | { readonly kind: 'exchange'; readonly which: number }
  | { readonly kind: 'answered' }
  | { readonly kind: 'time' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('offer' as const), bytes: fc.nat(8), slow: fc.boolean() }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom(...(['prepared', 'ends', 'fails', 'dies', 'cancel', 'stopped'] as const)),
      which: fc.nat(9),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('exchange' as const), which: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'answered' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'time' as const }) },
);

/** What the pool must look like is counted apart from it, from what was done to it. */
async function play(steps: readonly Step[]): Promise<void> {
  const { pool, workers, admission, clock, shared } = manualPool({
    cpus: CPUS,
    maxWorkers: 3,
    bounds: BOUNDS,
  });
  const preparing: PromiseWithResolvers<string>[] = [];
  const exchanges: PromiseWithResolvers<undefined>[] = [];
  const cancels: AbortController[] = [];
  const outcomes: Promise<string>[] = [];
  let admitted = 0;
  let refused = 0;
  let released = 0;
  const exchanging = new Set<unknown>();
  const pick = <T>(list: readonly T[], which: number): T | undefined =>
    list[which % Math.max(1, list.length)];
  const running = () => workers.filter((worker) => worker.running !== undefined);
  const stopping = () => workers.filter((worker) => worker.stopping !== undefined && !worker.stopped);

  const offer = (bytes: number, slow: boolean) => {
    const fits = pool.pendingTasks < BOUNDS.tasks && pool.pendingInputBytes + bytes <= BOUNDS.inputBytes;
    const cancel = new AbortController();
    cancels.push(cancel);
    const result = pool.run({
      inputBytes: bytes,
      signal: cancel.signal,
      prepare: () => {
        if (!slow) return 'input';
        const preparation = Promise.withResolvers<string>();
        preparing.push(preparation);
        return preparation.promise;
      },
      dispose: () => {
        released += 1;
      },
    });
    outcomes.push(
      result.catch((error: unknown) => {
        if (!(error instanceof WorkerTaskError)) return 'failed';
        if (error.code === 'overloaded') refused += 1;
        return error.code;
      }),
    );
    if (fits) admitted += 1;
    return fits;
  };
  const take = async (one: Step) => {
    switch (one.kind) {
      case 'offer': {
        const refusedBefore = refused;
        const fits = offer(one.bytes, one.slow);
        await settle();
        expect(refused - refusedBefore).toBe(fits ? 0 : 1);
        return;
      }
      case 'prepared':
        pick(preparing, one.which)?.resolve('input');
        return;
      case 'ends':
        pick(running(), one.which)?.running?.end.resolve('done');
        return;
      case 'fails':
        pick(running(), one.which)?.running?.end.reject(new Error('failed'));
        return;
      case 'dies': {
        const worker = pick(workers, one.which);
        if (worker === undefined) return;
        worker.alive = false;
        worker.running?.end.reject(new Error('died'));
        return;
      }
      case 'cancel':
        pick(cancels, one.which)?.abort();
        return;
      case 'stopped':
        pick(stopping(), one.which)?.stopping?.resolve();
        return;
      case 'exchange': {
        const task = pick(running(), one.which)?.running;
        if (task === undefined || exchanging.has(task)) return;
        const exchange = Promise.withResolvers<undefined>();
        exchanges.push(exchange);
        exchanging.add(task);
        void task.context.checkpoint(() => exchange.promise).finally(() => exchanging.delete(task));
        return;
      }
      case 'answered':
        exchanges.pop()?.resolve(undefined);
        return;
      case 'time':
        clock.advance(600);
    }
  };

  for (const one of steps) {
    await take(one);
    await settle();
    expect(admission.inUse).toBeLessThanOrEqual(CPUS);
    // A task that waits at a checkpoint computes nothing; all others that run must hold a permit.
    const computing = running().filter(({ running: task }) => !exchanging.has(task)).length;
    expect(computing).toBeLessThanOrEqual(CPUS);
    expect(pool.pendingTasks).toBeLessThanOrEqual(BOUNDS.tasks);
    expect(pool.pendingInputBytes).toBeLessThanOrEqual(BOUNDS.inputBytes);
    expect(shared).toMatchObject({ tasks: pool.pendingTasks, inputBytes: pool.pendingInputBytes });
  }

  // However it went, everything comes to its end and nothing is kept.
  for (let round = 0; round < 50 && pool.pendingTasks > 0; round += 1) {
    for (const exchange of exchanges) exchange.resolve(undefined);
    for (const preparation of preparing) preparation.resolve('input');
    for (const worker of running()) worker.running?.end.resolve('done');
    for (const worker of stopping()) worker.stopping?.resolve();
    await settle();
  }
  expect(await Promise.all(outcomes)).toHaveLength(admitted + refused);
  expect(pool).toMatchObject({ pendingTasks: 0, pendingInputBytes: 0 });
  expect(admission).toMatchObject({ inUse: 0, waiting: 0 });
  expect(released).toBeLessThanOrEqual(admitted);
  const closing = pool.close();
  for (const worker of stopping()) worker.stopping?.resolve();
  await closing;
  expect(workers.every((worker) => worker.stopped)).toBe(true);
}

describe('a pool, whatever is done to it', () => {
  it('keeps its limits, gives back every permit and reservation, and stops every worker', async () => {
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 30 }), play), { numRuns: 150 });
  });
});
