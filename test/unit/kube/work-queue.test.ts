import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WorkQueue, type WorkQueueHooks } from '../../../src/kube/work-queue.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const make = (hooks: WorkQueueHooks = {}) => {
  const clock = new FakeClock();
  const queue = new WorkQueue({
    clock,
    random: () => 0.999_999,
    backoffBaseMs: 100,
    backoffCapMs: 1000,
    hooks,
  });
  return { clock, queue };
};
/** Keys that can be taken now, each ended at once. */
async function takeAll(queue: WorkQueue): Promise<string[]> {
  const keys: string[] = [];
  while (queue.depth > 0) {
    const key = await queue.take();
    if (key === null) break;
    keys.push(key);
    queue.done(key);
  }
  return keys;
}

describe('a work queue', () => {
  it('gives a key once, however often it was added, in order', async () => {
    const { queue } = make();
    for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key);
    expect(await takeAll(queue)).toEqual(['a', 'b', 'c']);
  });

  it('gives a key that was added during its work once more, after it', async () => {
    const { queue } = make();
    queue.add('a');
    expect(await queue.take()).toBe('a');
    queue.add('a');
    queue.add('a');
    expect(queue.depth).toBe(0);
    queue.done('a');
    expect(await takeAll(queue)).toEqual(['a']);
  });

  it('hands a key to one of those who wait', async () => {
    const { queue } = make();
    const takers = [queue.take(), queue.take()];
    queue.add('a');
    queue.add('b');
    expect(await Promise.all(takers)).toEqual(['a', 'b']);
    expect([queue.depth, queue.active]).toEqual([0, 2]);
  });

  it('holds a key back until its time; the earliest wish counts', async () => {
    const { clock, queue } = make();
    queue.addAfter('a', 5000);
    queue.addAfter('a', 2000);
    queue.addAfter('a', 9000);
    queue.addAfter('b', 1000);
    await clock.advance(999);
    expect(queue.depth).toBe(0);
    await clock.advance(1);
    expect(await takeAll(queue)).toEqual(['b']);
    await clock.advance(1000);
    expect(await takeAll(queue)).toEqual(['a']);
    await clock.advance(60_000);
    expect([queue.depth, queue.waiting]).toEqual([0, 0]);
  });

  it('forgets the wish for later when the key is wanted now', async () => {
    const { clock, queue } = make();
    queue.addAfter('a', 1000);
    queue.add('a');
    expect(await takeAll(queue)).toEqual(['a']);
    await clock.advance(5000);
    expect(queue.depth).toBe(0);
  });

  it('backs off per key, doubling up to the cap, until it is forgotten', async () => {
    const { clock, queue } = make();
    const delays: number[] = [];
    for (let i = 0; i < 6; i += 1) {
      delays.push(Math.round(queue.addRateLimited('a')));
      await clock.advance(2000);
      await takeAll(queue);
    }
    expect(delays).toEqual([100, 200, 400, 800, 1000, 1000]);
    expect(queue.failures('a')).toBe(6);
    expect(Math.round(queue.addRateLimited('b'))).toBe(100);
    queue.forget('a');
    expect(Math.round(queue.addRateLimited('a'))).toBe(100);
    expect(queue.addRateLimited('c', 7000)).toBe(7000);
  });

  it('ends: who waits gets null, what waits is dropped, work in hand may end', async () => {
    const { clock, queue } = make();
    queue.add('a');
    await queue.take();
    queue.addAfter('z', 10);
    const waiting = queue.take();
    queue.add('a');
    let idle = false;
    const drained = queue.idle().then(() => {
      idle = true;
    });
    queue.shutDown();
    expect(await waiting).toBeNull();
    queue.add('b');
    expect(await queue.take()).toBeNull();
    await clock.advance(1000);
    expect(idle).toBe(false);
    queue.done('a');
    await drained;
    expect([queue.depth, queue.waiting, queue.active]).toEqual([0, 0, 0]);
  });

  it('reports depth, waiting time, working time and tries', async () => {
    const seen: string[] = [];
    const { clock, queue } = make({
      onDepth: (depth) => seen.push(`depth ${depth}`),
      onLatency: (seconds) => seen.push(`latency ${seconds}`),
      onWorkDuration: (seconds) => seen.push(`work ${seconds}`),
      onRetry: () => seen.push('retry'),
    });
    queue.add('a');
    await clock.advance(1500);
    await queue.take();
    await clock.advance(250);
    queue.addRateLimited('a');
    queue.done('a');
    expect(seen).toEqual(['depth 1', 'latency 1.5', 'depth 0', 'retry', 'work 0.25']);
  });
});

type Op =
  | { readonly op: 'add' | 'rateLimited' | 'forget'; readonly key: string }
  | { readonly op: 'after'; readonly key: string; readonly ms: number }
  | { readonly op: 'take' | 'done' }
  | { readonly op: 'advance'; readonly ms: number };

const key = fc.constantFrom('a', 'b', 'c');
const ops: fc.Arbitrary<Op> = fc.oneof(
  fc.record({ op: fc.constantFrom('add', 'rateLimited', 'forget'), key }) as fc.Arbitrary<Op>,
  fc.record({ op: fc.constant('after'), key, ms: fc.integer({ min: 0, max: 3000 }) }) as fc.Arbitrary<Op>,
  fc.record({ op: fc.constantFrom('take', 'take', 'done') }) as fc.Arbitrary<Op>,
  fc.record({ op: fc.constant('advance'), ms: fc.integer({ min: 1, max: 2000 }) }) as fc.Arbitrary<Op>,
);

describe('of any history of a work queue holds', () => {
  it('no key is worked on twice at once, none is lost, none is worked on unasked', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(ops, { maxLength: 60 }), async (history) => {
        const { clock, queue } = make();
        const working = new Set<string>();
        /** Wanted now, since the key was taken last; and wanted at a later time. */
        const now = new Set<string>();
        const later = new Map<string, number>();
        const wantLater = (wanted: string, ms: number) => {
          const dueMs = clock.monotonicMs() + ms;
          later.set(wanted, Math.min(later.get(wanted) ?? Infinity, dueMs));
        };
        /** What was wanted for a time that has come is wanted now. */
        const ring = () => {
          for (const [wanted, dueMs] of later) {
            if (dueMs > clock.monotonicMs()) continue;
            later.delete(wanted);
            now.add(wanted);
          }
        };
        const problems: string[] = [];
        const takes: Promise<void>[] = [];
        const take = () => {
          takes.push(
            queue.take().then((taken) => {
              if (taken === null) return;
              if (working.has(taken)) problems.push(`${taken} is worked on twice`);
              ring();
              if (!now.has(taken)) problems.push(`nobody asked for ${taken}`);
              working.add(taken);
              now.delete(taken);
            }),
          );
        };
        const finish = () => {
          const [first] = working;
          if (first === undefined) return;
          working.delete(first);
          queue.done(first);
        };
        for (const act of history) {
          ring();
          switch (act.op) {
            case 'add':
              now.add(act.key);
              later.delete(act.key);
              queue.add(act.key);
              break;
            case 'rateLimited':
              wantLater(act.key, queue.addRateLimited(act.key));
              break;
            case 'after':
              if (act.ms > 0) wantLater(act.key, act.ms);
              else {
                now.add(act.key);
                later.delete(act.key);
              }
              queue.addAfter(act.key, act.ms);
              break;
            case 'forget':
              queue.forget(act.key);
              break;
            case 'take':
              take();
              break;
            case 'done':
              finish();
              break;
            case 'advance':
              await clock.advance(act.ms);
              break;
          }
          await clock.advance(0);
        }
        // With time and workers, everything that was wanted gets its work.
        for (let round = 0; round < 40 && now.size + later.size + working.size > 0; round += 1) {
          take();
          await clock.advance(2000);
          finish();
          await clock.advance(0);
        }
        expect(problems).toEqual([]);
        expect([...now, ...later.keys()]).toEqual([]);
        queue.shutDown();
        await Promise.all(takes);
      }),
      { numRuns: 300 },
    );
  });
});
