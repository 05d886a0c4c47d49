import { CpuAdmission } from '../../../src/scoring/pool/cpu-admission.ts';
import { PendingLimits, type PendingBounds } from '../../../src/scoring/pool/pending-limits.ts';
import type { PoolClock } from '../../../src/scoring/pool/pool-clock.ts';
import {
  WorkerTaskPool,
  type PoolWorker,
  type TaskContext,
} from '../../../src/scoring/pool/worker-task-pool.ts';

/** Time that passes when a test says so. */
export class ManualClock implements PoolClock {
  #now = 0;
  readonly #timers = new Set<{ at: number; action: () => void }>();

  now = (): number => this.#now;

  after = (milliseconds: number, action: () => void) => {
    const timer = { at: this.#now + milliseconds, action };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  };

  advance(milliseconds: number): void {
    this.#now += milliseconds;
    for (const timer of this.#timers) {
      if (timer.at > this.#now) continue;
      this.#timers.delete(timer);
      timer.action();
    }
  }
}

/** A worker whose every step a test takes: it ends when told, and stops when told. */
export class ManualWorker implements PoolWorker<string, string> {
  running: { input: string; context: TaskContext; end: PromiseWithResolvers<string> } | undefined;
  stopping: PromiseWithResolvers<void> | undefined;
  stopped = false;
  alive = true;

  run = async (input: string, context: TaskContext): Promise<string> => {
    if (this.running !== undefined) throw new Error('a worker was given two tasks at once');
    if (this.stopping !== undefined) throw new Error('a worker was used after it was stopped');
    const end = Promise.withResolvers<string>();
    this.running = { input, context, end };
    try {
      return await end.promise;
    } finally {
      this.running = undefined;
    }
  };

  reusable = (): boolean => this.alive;

  stop = async (): Promise<void> => {
    if (this.stopping !== undefined) throw new Error('a worker was stopped twice');
    this.stopping = Promise.withResolvers();
    this.running?.end.reject(new Error('the worker is being stopped'));
    await this.stopping.promise;
    this.stopped = true;
  };
}

export interface Setup {
  readonly cpus?: number;
  readonly maxWorkers?: number;
  readonly bounds?: PendingBounds;
  readonly shared?: PendingLimits;
  readonly admission?: CpuAdmission;
  readonly name?: string;
}

/** A pool with a clock and workers in a test's hands. */
export function manualPool(setup: Setup = {}) {
  const clock = new ManualClock();
  const workers: ManualWorker[] = [];
  const admission = setup.admission ?? new CpuAdmission(setup.cpus ?? 1);
  const shared = setup.shared ?? new PendingLimits();
  const pool = new WorkerTaskPool<string, string>({
    name: setup.name ?? 'manual',
    maxWorkers: setup.maxWorkers ?? 4,
    idleMs: 1000,
    createWorker: () => {
      const worker = new ManualWorker();
      workers.push(worker);
      return worker;
    },
    admission,
    shared,
    clock,
    ...(setup.bounds === undefined ? {} : { bounds: setup.bounds }),
  });
  return { pool, clock, workers, admission, shared };
}

/** Lets everything happen that waits for nothing but promises. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
