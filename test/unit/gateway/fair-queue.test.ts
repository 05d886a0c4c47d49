import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairQueue, QueueLeft, type Ticket } from '../../../src/gateway/fair-queue.ts';
import { RateLimits } from '../../../src/gateway/rate-limits.ts';
import { HeldTime, settle } from './held-time.ts';

const NEVER = new AbortController().signal;

function queueOf(concurrency: number | null, limits: ConstructorParameters<typeof RateLimits>[0] = {}) {
  const time = new HeldTime();
  const rates = new RateLimits(limits);
  const queue = new FairQueue(concurrency, rates, time);
  const admitted: string[] = [];
  const tickets: Ticket[] = [];
  const enter = (key: string, signal = NEVER) => {
    const entered = queue.enter(key, signal).then((ticket) => {
      admitted.push(key);
      tickets.push(ticket);
      return ticket;
    });
    entered.catch(() => undefined);
    return entered;
  };
  /** Ends the call that was admitted first among those that are served. */
  const leave = async () => {
    tickets.shift()?.leave();
    await settle();
  };
  return { time, queue, rates, admitted, enter, leave, tickets };
}

describe('the queue of the gateway', () => {
  it('lets callers take turns, however many calls one of them sends', async () => {
    const { admitted, enter, leave } = queueOf(1);
    for (let i = 0; i < 4; i += 1) void enter('greedy');
    void enter('a');
    void enter('b');
    await settle();
    for (let i = 0; i < 6; i += 1) await leave();
    expect(admitted).toEqual(['greedy', 'greedy', 'a', 'b', 'greedy', 'greedy']);
  });

  it('serves as many at once as the limit says, and everybody without one', async () => {
    const limited = queueOf(2);
    const free = queueOf(null);
    for (const key of ['a', 'b', 'c', 'd']) {
      void limited.enter(key);
      void free.enter(key);
    }
    await settle();
    expect(limited.admitted).toEqual(['a', 'b']);
    expect(limited.queue.waiting).toBe(2);
    expect(free.admitted).toEqual(['a', 'b', 'c', 'd']);
  });

  it('tells how long a caller was held, also while it is', async () => {
    const { time, queue, enter, leave } = queueOf(1);
    void enter('a');
    await time.pass(100);
    const second = enter('b');
    await time.pass(300);
    expect(queue.held('b')).toEqual({ heldMs: 300, holding: true });
    expect(queue.held('a')).toEqual({ heldMs: 0, holding: false });
    await leave();
    expect((await second).heldMs).toBe(300);
    await time.pass(1000);
    expect(queue.held('b')).toEqual({ heldMs: 300, holding: false });
    expect(queue.held('nobody')).toEqual({ heldMs: 0, holding: false });
  });

  it('gives no time to a caller that waits only for itself', async () => {
    const { time, queue, enter, leave } = queueOf(1);
    for (let i = 0; i < 3; i += 1) void enter('a');
    await time.pass(500);
    await leave();
    await time.pass(500);
    expect(queue.held('a')).toEqual({ heldMs: 0, holding: false });
  });

  it('forgets a call that was given up, and its turn', async () => {
    const { time, queue, admitted, enter, leave } = queueOf(1);
    void enter('a');
    const gone = new AbortController();
    const given = enter('b', gone.signal);
    void enter('c');
    await time.pass(50);
    gone.abort();
    await expect(given).rejects.toThrow(QueueLeft);
    expect(queue.held('b')).toEqual({ heldMs: 50, holding: false });
    await leave();
    expect(admitted).toEqual(['a', 'c']);
    await expect(enter('d', gone.signal)).rejects.toThrow(QueueLeft);
  });

  it('gives a place back once only', async () => {
    const { tickets, admitted, enter } = queueOf(1);
    void enter('a');
    void enter('b');
    void enter('c');
    await settle();
    const [first] = tickets;
    first!.leave();
    first!.leave();
    await settle();
    expect(admitted).toEqual(['a', 'b']);
  });

  it('holds calls until the minute has room for them', async () => {
    const { time, admitted, enter, queue } = queueOf(null, { requestsPerMinute: 2 });
    void enter('a');
    await time.pass(10_000);
    void enter('b');
    void enter('c');
    await time.pass(49_999);
    expect(admitted).toEqual(['a', 'b']);
    expect(queue.held('c')).toMatchObject({ heldMs: 49_999, holding: true });
    await time.pass(1);
    expect(admitted).toEqual(['a', 'b', 'c']);
  });

  it('holds calls once the minute has used up its tokens', async () => {
    const { time, rates, admitted, enter } = queueOf(null, { tokensPerMinute: 100 });
    void enter('a');
    await settle();
    rates.usedTokens(time.monotonicMs(), 60);
    void enter('b');
    await settle();
    rates.usedTokens(time.monotonicMs(), 60);
    void enter('c');
    await time.pass(59_999);
    expect(admitted).toEqual(['a', 'b']);
    await time.pass(1);
    expect(admitted).toEqual(['a', 'b', 'c']);
  });

  it('serves everyone in the end and never more than the limit at once', async () => {
    const calls = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(calls, fc.integer({ min: 1, max: 4 }), async (keys, concurrency) => {
        const { admitted, enter, tickets } = queueOf(concurrency);
        for (const key of keys) void enter(key);
        await settle();
        for (let done = 0; done < keys.length; done += 1) {
          expect(tickets.length).toBe(Math.min(concurrency, keys.length - done));
          tickets.shift()?.leave();
          await settle();
        }
        expect(admitted.toSorted()).toEqual(keys.toSorted());
      }),
      { numRuns: 50 },
    );
  });
});
