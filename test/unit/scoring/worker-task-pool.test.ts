import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { availableParallelism } from 'node:os';
import { describe, expect, it } from 'vitest';
import { CpuAdmission, sharedCpuAdmission } from '../../../src/scoring/pool/cpu-admission.ts';
import { DEFAULT_PENDING_BOUNDS, PendingLimits } from '../../../src/scoring/pool/pending-limits.ts';
import { WORKER_TASK_CHANNEL } from '../../../src/scoring/pool/task-events.ts';
import { manualPool, settle } from './pool-harness.ts';

const task = (input: string, inputBytes = 1, signal?: AbortSignal) => ({
  prepare: () => input,
  inputBytes,
  signal,
});

describe('admission', () => {
  it('leaves one CPU to the process, and bounds 128 tasks and 256 MiB', () => {
    expect(sharedCpuAdmission.limit).toBe(Math.max(1, availableParallelism() - 1));
    expect(DEFAULT_PENDING_BOUNDS).toEqual({ tasks: 128, inputBytes: 268_435_456 });
  });

  it('runs no more tasks at once than there are permits, over all pools', async () => {
    const admission = new CpuAdmission(2);
    const one = manualPool({ admission });
    const two = manualPool({ admission });
    const results = [one, two].flatMap(({ pool }) => [pool.run(task('a')), pool.run(task('b'))]);
    await settle();
    const running = () => [...one.workers, ...two.workers].filter((worker) => worker.running !== undefined);
    expect(running().map((worker) => worker.running?.input)).toEqual(['a', 'b']);
    expect(admission.waiting).toBe(2);
    running()[0]?.running?.end.resolve('done');
    await settle();
    expect(running()).toHaveLength(2);
    for (let left = running(); left.length > 0; left = running()) {
      for (const worker of left) worker.running?.end.resolve('done');
      await settle();
    }
    expect(await Promise.all(results)).toEqual(['done', 'done', 'done', 'done']);
    expect(admission.inUse).toBe(0);
  });

  it('refuses work beyond the bound of tasks, and admits it again when one has ended', async () => {
    const { pool, workers } = manualPool({ bounds: { tasks: 2, inputBytes: 100 }, cpus: 1, maxWorkers: 1 });
    const first = pool.run(task('running'));
    const second = pool.run(task('queued'));
    await expect(pool.run(task('too many'))).rejects.toMatchObject({ code: 'overloaded' });
    await settle();
    workers[0]?.running?.end.resolve('ok');
    await first;
    await settle();
    const third = pool.run(task('fits again'));
    workers[0]?.running?.end.resolve('ok');
    await second;
    await settle();
    workers[0]?.running?.end.resolve('ok');
    expect(await third).toBe('ok');
  });

  it('refuses work beyond the bytes that pools retain together', async () => {
    const shared = new PendingLimits({ tasks: 10, inputBytes: 100 });
    const one = manualPool({ shared });
    const two = manualPool({ shared });
    void one.pool.run(task('large', 60)).catch(() => undefined);
    await expect(two.pool.run(task('too large', 41))).rejects.toMatchObject({ code: 'overloaded' });
    void two.pool.run(task('fits', 40)).catch(() => undefined);
    expect(shared.inputBytes).toBe(100);
    await settle();
    for (const worker of [...one.workers, ...two.workers]) worker.running?.end.resolve('ok');
    await settle();
    expect(shared).toMatchObject({ tasks: 0, inputBytes: 0 });
  });
});

describe('a cancelled task', () => {
  it('that is queued is gone at once', async () => {
    const { pool } = manualPool({ maxWorkers: 1 });
    void pool.run(task('running')).catch(() => undefined);
    const controller = new AbortController();
    const queued = pool.run(task('queued', 5, controller.signal));
    expect(pool.pendingInputBytes).toBe(6);
    controller.abort();
    await expect(queued).rejects.toMatchObject({ code: 'cancelled' });
    expect(pool).toMatchObject({ pendingTasks: 1, pendingInputBytes: 1 });
  });

  it('is answered at once but keeps its input reservation until preparation has settled', async () => {
    const { pool, workers } = manualPool();
    const preparation = Promise.withResolvers<string>();
    const controller = new AbortController();
    let seen: AbortSignal | undefined;
    const disposed: string[] = [];
    const result = pool.run({
      inputBytes: 7,
      signal: controller.signal,
      prepare: (signal) => {
        seen = signal;
        return preparation.promise;
      },
      dispose: (input) => void disposed.push(input),
    });
    await settle();
    controller.abort();
    await expect(result).rejects.toMatchObject({ code: 'cancelled' });
    expect(seen?.aborted).toBe(true);
    expect(pool).toMatchObject({ pendingTasks: 1, pendingInputBytes: 7 });
    preparation.resolve('late');
    await settle();
    expect(pool).toMatchObject({ pendingTasks: 0, pendingInputBytes: 0 });
    expect(workers).toHaveLength(0);
    expect(disposed).toEqual(['late']);
  });

  it('keeps its CPU permit and its input until the worker has really stopped', async () => {
    const { pool, workers, admission } = manualPool();
    const controller = new AbortController();
    const disposed: string[] = [];
    const result = pool.run({
      ...task('x', 3, controller.signal),
      dispose: (input) => void disposed.push(input),
    });
    const next = pool.run(task('next'));
    await settle();
    controller.abort();
    await expect(result).rejects.toMatchObject({ code: 'cancelled' });
    await settle();
    expect(admission.inUse).toBe(1);
    expect(workers).toHaveLength(1);
    expect(disposed).toEqual([]);
    workers[0]?.stopping?.resolve();
    await settle();
    expect(disposed).toEqual(['x']);
    expect(workers[1]?.running?.input).toBe('next');
    workers[1]?.running?.end.resolve('ok');
    expect(await next).toBe('ok');
    await settle();
    expect(admission.inUse).toBe(0);
  });

  it('that waits for a permit makes no worker', async () => {
    const { pool, workers } = manualPool({ cpus: 1 });
    const first = pool.run(task('running'));
    const controller = new AbortController();
    const second = pool.run(task('waiting', 1, controller.signal));
    await settle();
    controller.abort();
    await expect(second).rejects.toMatchObject({ code: 'cancelled' });
    workers[0]?.running?.end.resolve('ok');
    await first;
    await settle();
    expect(workers).toHaveLength(1);
    expect(pool.pendingTasks).toBe(0);
  });

  it('that was cancelled before it was offered is never admitted', async () => {
    const { pool } = manualPool();
    await expect(pool.run(task('x', 1, AbortSignal.abort()))).rejects.toMatchObject({ code: 'cancelled' });
    expect(pool.pendingTasks).toBe(0);
  });
});

describe('workers', () => {
  it('are reused, hold no CPU permit while idle, and retire after the idle time', async () => {
    const { pool, workers, admission, clock } = manualPool();
    for (const input of ['a', 'b']) {
      const result = pool.run(task(input));
      await settle();
      workers[0]?.running?.end.resolve(input);
      expect(await result).toBe(input);
      await settle();
    }
    expect(workers).toHaveLength(1);
    expect(admission.inUse).toBe(0);
    clock.advance(999);
    expect(pool.idleWorkers).toBe(1);
    clock.advance(1);
    expect(pool.idleWorkers).toBe(0);
    expect(workers[0]?.stopping).toBeDefined();
  });

  it('that died are replaced', async () => {
    const { pool, workers } = manualPool();
    const first = pool.run(task('a'));
    await settle();
    workers[0]!.alive = false;
    workers[0]?.running?.end.reject(new Error('it died'));
    await expect(first).rejects.toThrow('it died');
    workers[0]?.stopping?.resolve();
    const second = pool.run(task('b'));
    await settle();
    workers[1]?.running?.end.resolve('ok');
    expect(await second).toBe('ok');
  });

  it('that cannot be made, or an input that cannot be prepared, fail their task alone', async () => {
    const { pool, workers, admission } = manualPool();
    const failing = pool.run({ inputBytes: 1, prepare: () => Promise.reject(new Error('no input')) });
    await expect(failing).rejects.toThrow('no input');
    const next = pool.run(task('b'));
    await settle();
    workers[0]?.running?.end.resolve('ok');
    expect(await next).toBe('ok');
    await settle();
    expect(admission.inUse).toBe(0);
    expect(pool.pendingTasks).toBe(0);
  });
});

describe('a checkpoint', () => {
  it('lets nested work of the same pool progress with one permit and one place', async () => {
    const { pool, workers, admission } = manualPool({ cpus: 1, maxWorkers: 1 });
    const outer = pool.run(task('outer'));
    await settle();
    const { context, end } = workers[0]!.running!;
    const nested = context.checkpoint(() => pool.run(task('nested')));
    await settle();
    expect(workers[1]?.running?.input).toBe('nested');
    expect(admission.inUse).toBe(1);
    workers[1]?.running?.end.resolve('inner result');
    expect(await nested).toBe('inner result');
    end.resolve('outer result');
    expect(await outer).toBe('outer result');
    await settle();
    expect(admission).toMatchObject({ inUse: 0, waiting: 0 });
  });

  it('gives the permit back before newcomers get one', async () => {
    const { pool, workers } = manualPool({ cpus: 1 });
    const outer = pool.run(task('outer'));
    await settle();
    const { context, end } = workers[0]!.running!;
    const exchange = Promise.withResolvers<string>();
    const resumed = context.checkpoint(() => exchange.promise);
    const second = pool.run(task('second'));
    const third = pool.run(task('third'));
    await settle();
    expect(workers[1]?.running?.input).toBe('second');
    exchange.resolve('answer');
    await settle();
    workers[1]?.running?.end.resolve('ok');
    await second;
    expect(await resumed).toBe('answer');
    await settle();
    expect(workers.filter((worker) => worker.running?.input === 'third')).toHaveLength(0);
    end.resolve('ok');
    await outer;
    await settle();
    workers.find((worker) => worker.running?.input === 'third')?.running?.end.resolve('ok');
    expect(await third).toBe('ok');
  });

  it('keeps the permit where nobody waits for one', async () => {
    const { pool, workers, admission } = manualPool();
    const outer = pool.run(task('outer'));
    await settle();
    const { context, end } = workers[0]!.running!;
    const exchange = Promise.withResolvers<undefined>();
    const resumed = context.checkpoint(() => exchange.promise);
    expect(admission.inUse).toBe(1);
    exchange.resolve(undefined);
    await resumed;
    end.resolve('ok');
    await outer;
    await settle();
    expect(admission.inUse).toBe(0);
  });

  it('of a cancelled task gives its permit back once only', async () => {
    const { pool, workers, admission } = manualPool({ cpus: 1 });
    const controller = new AbortController();
    const outer = pool.run(task('outer', 1, controller.signal));
    await settle();
    const exchange = Promise.withResolvers<undefined>();
    const resumed = workers[0]!.running!.context.checkpoint(() => exchange.promise);
    const second = pool.run(task('second'));
    await settle();
    controller.abort();
    await expect(outer).rejects.toMatchObject({ code: 'cancelled' });
    workers[0]?.stopping?.resolve();
    await settle();
    workers[1]?.running?.end.resolve('ok');
    expect(await second).toBe('ok');
    exchange.resolve(undefined);
    await resumed;
    await settle();
    expect(admission).toMatchObject({ inUse: 0, waiting: 0 });
  });
});

describe('closing', () => {
  it('rejects what waits, stops what runs, and resolves when all has stopped', async () => {
    const { pool, workers } = manualPool({ cpus: 1 });
    const running = expect(pool.run(task('a'))).rejects.toMatchObject({ code: 'closed' });
    const waiting = expect(pool.run(task('b'))).rejects.toMatchObject({ code: 'closed' });
    await settle();
    let closed = false;
    const closing = pool.close().then(() => (closed = true));
    await Promise.all([running, waiting]);
    await settle();
    expect(closed).toBe(false);
    workers[0]?.stopping?.resolve();
    await closing;
    expect(pool.pendingTasks).toBe(0);
    await expect(pool.run(task('c'))).rejects.toMatchObject({ code: 'closed' });
  });

  it('stops idle workers', async () => {
    const { pool, workers } = manualPool();
    const result = pool.run(task('a'));
    await settle();
    workers[0]?.running?.end.resolve('ok');
    await result;
    await settle();
    const closing = pool.close();
    workers[0]?.stopping?.resolve();
    await closing;
    expect(workers[0]?.stopped).toBe(true);
  });
});

describe('events', () => {
  it('tell times and pending counts, and no input', async () => {
    const events: unknown[] = [];
    const listen = (message: unknown) => void events.push(message);
    subscribe(WORKER_TASK_CHANNEL, listen);
    try {
      const { pool, workers, clock } = manualPool({ name: 'watched', bounds: { tasks: 1, inputBytes: 100 } });
      const preparation = Promise.withResolvers<string>();
      const result = pool.run({ inputBytes: 9, prepare: () => preparation.promise });
      await expect(pool.run(task('SECRET-2'))).rejects.toMatchObject({ code: 'overloaded' });
      clock.advance(5);
      preparation.resolve('SECRET-1');
      await settle();
      clock.advance(20);
      workers[0]?.running?.context.transferred(2);
      workers[0]?.running?.end.resolve('SECRET-3');
      await result;
      expect(events).toEqual([
        {
          pool: 'watched',
          task: 2,
          outcome: 'overloaded',
          queueMs: 0,
          preparationMs: null,
          executionMs: null,
          transferMs: 0,
          pendingTasks: 1,
          pendingInputBytes: 9,
        },
        {
          pool: 'watched',
          task: 1,
          outcome: 'completed',
          queueMs: 0,
          preparationMs: 5,
          executionMs: 20,
          transferMs: 2,
          pendingTasks: 1,
          pendingInputBytes: 9,
        },
      ]);
      expect(JSON.stringify(events)).not.toContain('SECRET');
    } finally {
      unsubscribe(WORKER_TASK_CHANNEL, listen);
    }
  });
});
