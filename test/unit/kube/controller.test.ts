import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Controller, type ControllerOptions, type ReconcileReport } from '../../../src/kube/controller.ts';
import { ApiStatusError, TerminalError } from '../../../src/kube/errors.ts';
import { FakeClock } from '../../support/fake-clock.ts';

function start(options: Partial<ControllerOptions> & Pick<ControllerOptions, 'reconcile'>) {
  const clock = new FakeClock();
  const reports: ReconcileReport[] = [];
  const controller = new Controller({
    name: 'runs',
    allKeys: () => [],
    clock,
    random: () => 0.5,
    queue: { backoffBaseMs: 1000, backoffCapMs: 8000 },
    onReconcile: (report) => reports.push(report),
    ...options,
  });
  const abort = new AbortController();
  const running = controller.run(abort.signal);
  return { clock, controller, reports, abort, running };
}
const outcomes = (reports: readonly ReconcileReport[]) =>
  reports.map(({ key, outcome }) => `${key} ${outcome}`);

describe('a controller', () => {
  it('runs a pass for a key and asks for it again when told so', async () => {
    const { clock, controller, reports, abort, running } = start({
      reconcile: () => Promise.resolve({ requeueAfterSeconds: 30 }),
    });
    controller.enqueue('a');
    await clock.advance(29_000);
    expect(outcomes(reports)).toEqual(['a requeue_after']);
    await clock.advance(1000);
    expect(reports).toHaveLength(2);
    expect(new Set(reports.map(({ reconcileId }) => reconcileId)).size).toBe(2);
    abort.abort();
    await running;
  });

  it('backs off after errors, and begins anew after a success', async () => {
    let failing = true;
    const { clock, controller, reports } = start({
      reconcile: () => (failing ? Promise.reject(new Error('no')) : Promise.resolve(undefined)),
    });
    controller.enqueue('a');
    await clock.advance(10_000);
    expect(reports.map(({ retryAfterSeconds }) => retryAfterSeconds)).toEqual([0.75, 1.5, 3, 6]);
    failing = false;
    await clock.advance(10_000);
    expect(reports.at(-1)?.outcome).toBe('success');
    failing = true;
    controller.enqueue('a');
    await clock.advance(0);
    expect(reports.at(-1)).toMatchObject({ outcome: 'error', retryAfterSeconds: 0.75 });
  });

  it('waits at least as long as a throttling server asks', async () => {
    const { clock, controller, reports } = start({
      reconcile: () => Promise.reject(new ApiStatusError('patch trials/status', 429, {}, 20)),
    });
    controller.enqueue('a');
    await clock.advance(0);
    expect(reports[0]).toMatchObject({ outcome: 'error', retryAfterSeconds: 20 });
  });

  it('tries a write that was throttled until it is through', async () => {
    let refusals = 4;
    let written = false;
    const { clock, controller } = start({
      reconcile: () => {
        if (refusals-- > 0) return Promise.reject(new ApiStatusError('patch trials/status', 429, {}, 1));
        written = true;
        return Promise.resolve(undefined);
      },
    });
    controller.enqueue('a');
    await clock.advance(60_000);
    expect(written).toBe(true);
  });

  it('does not try again what cannot be mended, until something changes', async () => {
    const { clock, controller, reports } = start({
      reconcile: () => Promise.reject(new TerminalError('the suite is not there')),
    });
    controller.enqueue('a');
    await clock.advance(100_000);
    expect(outcomes(reports)).toEqual(['a terminal']);
    controller.enqueue('a');
    await clock.advance(0);
    expect(reports).toHaveLength(2);
  });

  it('takes up every key at the start and now and then, whatever events were missed', async () => {
    const known = ['a', 'b'];
    const { clock, reports } = start({
      reconcile: () => Promise.resolve(undefined),
      allKeys: () => known,
      resyncSeconds: 100,
    });
    await clock.advance(0);
    expect(outcomes(reports)).toEqual(['a success', 'b success']);
    known.push('c');
    await clock.advance(100_000);
    expect(outcomes(reports).slice(2)).toEqual(['a success', 'b success', 'c success']);
  });

  it('ends after the passes in hand, tells them, and begins no other', async () => {
    const { clock, controller, reports, abort, running } = start({
      workers: 1,
      reconcile: (_key, { signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    });
    controller.enqueue('a');
    controller.enqueue('b');
    await clock.advance(10);
    abort.abort(new Error('stopping'));
    await running;
    expect(outcomes(reports)).toEqual(['a aborted']);
  });

  it('survives a reconcile function that throws without a promise', async () => {
    const { clock, controller, reports } = start({
      reconcile: () => {
        throw new Error('at once');
      },
    });
    controller.enqueue('a');
    await clock.advance(0);
    expect(outcomes(reports)).toEqual(['a error']);
  });
});

it('never runs two passes of one key at once, and never more than its workers', async () => {
  const event = fc.record({
    key: fc.constantFrom('a', 'b', 'c', 'd'),
    afterMs: fc.integer({ min: 0, max: 50 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { maxLength: 40 }),
      fc.integer({ min: 1, max: 3 }),
      async (events, workers) => {
        const running = new Set<string>();
        const seen = new Map<string, number>();
        let most = 0;
        const {
          clock,
          controller,
          abort,
          running: end,
        } = start({
          workers,
          reconcile: async (key) => {
            expect(running.has(key)).toBe(false);
            running.add(key);
            most = Math.max(most, running.size);
            seen.set(key, clock.monotonicMs());
            await clock.sleep(20);
            running.delete(key);
            return undefined;
          },
        });
        const asked = new Map<string, number>();
        for (const { key, afterMs } of events) {
          await clock.advance(afterMs);
          asked.set(key, clock.monotonicMs());
          controller.enqueue(key);
        }
        await clock.advance(5000);
        expect(most).toBeLessThanOrEqual(workers);
        // The last wish for each key was followed by a pass that began after it.
        for (const [key, atMs] of asked) expect(seen.get(key)).toBeGreaterThanOrEqual(atMs);
        abort.abort();
        await end;
      },
    ),
    { numRuns: 100 },
  );
});
