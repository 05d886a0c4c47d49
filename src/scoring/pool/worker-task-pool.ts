import { sharedCpuAdmission, type CpuAdmission, type Permit } from './cpu-admission.ts';
import { systemPoolClock, type PoolClock, type Timer } from './pool-clock.ts';
import {
  computePendingLimits,
  DEFAULT_PENDING_BOUNDS,
  PendingLimits,
  type PendingBounds,
} from './pending-limits.ts';
import { publishTaskEvent, type WorkerTaskEvent } from './task-events.ts';
import { WorkerTaskError } from './worker-task-error.ts';

/** What a worker may ask of its pool while it runs a task. */
export interface TaskContext {
  /** Aborted when the task is cancelled; the pool stops the worker at the same time. */
  readonly signal: AbortSignal;
  /** Awaits something outside this worker: others may use its place and its CPU meanwhile. */
  readonly checkpoint: <T>(work: () => Promise<T>) => Promise<T>;
  /** Adds to the task's transfer time. */
  readonly transferred: (milliseconds: number) => void;
}

/** Something that computes: a process, a thread. Runs one task at a time. */
export interface PoolWorker<Input, Output> {
  readonly run: (input: Input, context: TaskContext) => Promise<Output>;
  /** Whether it can take another task: false once it has died or was used up. */
  readonly reusable: () => boolean;
  /** Resolves when the worker has really stopped and touches nothing any more. Called once. */
  readonly stop: () => Promise<void>;
}

export interface PoolTask<Input> {
  /** Makes the input, once a worker's place is free. Runs without a CPU permit. */
  readonly prepare: (signal: AbortSignal) => Input | Promise<Input>;
  /** Bytes of input that the producer keeps in memory until the task is over. */
  readonly inputBytes: number;
  /** Called when no worker can touch the prepared input any more, however the task ended. */
  readonly dispose?: (input: Input) => void | Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

export interface PoolOptions<Input, Output> {
  /** For events. */
  readonly name: string;
  readonly createWorker: () => PoolWorker<Input, Output>;
  /** Tasks prepared or running at once. */
  readonly maxWorkers: number;
  /** Idle workers stop after this many milliseconds. */
  readonly idleMs: number;
  readonly admission?: CpuAdmission;
  readonly bounds?: PendingBounds;
  /** Limits shared with other pools. */
  readonly shared?: PendingLimits;
  readonly clock?: PoolClock;
}

interface Task<Input, Output> {
  readonly number: number;
  readonly work: PoolTask<Input>;
  readonly resolve: (output: Output) => void;
  readonly reject: (error: unknown) => void;
  readonly cancel: AbortController;
  readonly admittedAt: number;
  /** No longer waited for by its caller. */
  settled: boolean;
  startedAt: number | null;
  preparationMs: number | null;
  executionStartedAt: number | null;
  transferMs: number;
  stopListening: () => void;
}

interface Idle<Input, Output> {
  readonly worker: PoolWorker<Input, Output>;
  readonly timer: Timer;
}

/**
 * Runs tasks on reusable workers under admission: bounded pending work, a CPU limit shared with other pools.
 * A caller that is cancelled gets its answer at once; what its task holds is given back when that is really free:
 * the CPU permit when the worker has stopped, the input reservation when preparation has settled.
 */
export class WorkerTaskPool<Input, Output> {
  readonly #options: PoolOptions<Input, Output>;
  readonly #admission: CpuAdmission;
  readonly #clock: PoolClock;
  readonly #own: PendingLimits;
  readonly #shared: PendingLimits;
  readonly #queue: Task<Input, Output>[] = [];
  readonly #active = new Set<Task<Input, Output>>();
  readonly #idle: Idle<Input, Output>[] = [];
  /** Everything that must end before the pool is closed. */
  readonly #unsettled = new Set<Promise<void>>();
  /** Tasks that hold a worker's place. */
  #places = 0;
  #count = 0;
  #closed = false;

  constructor(options: PoolOptions<Input, Output>) {
    this.#options = options;
    this.#admission = options.admission ?? sharedCpuAdmission;
    this.#clock = options.clock ?? systemPoolClock;
    this.#own = new PendingLimits(options.bounds ?? DEFAULT_PENDING_BOUNDS);
    this.#shared = options.shared ?? computePendingLimits;
  }

  get pendingTasks(): number {
    return this.#own.tasks;
  }

  get pendingInputBytes(): number {
    return this.#own.inputBytes;
  }

  get idleWorkers(): number {
    return this.#idle.length;
  }

  /**
   * @returns what the worker answered
   * @throws WorkerTaskError `overloaded` when pending work is at its bounds, `cancelled`, `closed`; else whatever
   *   preparation or worker threw
   */
  async run(work: PoolTask<Input>): Promise<Output> {
    this.#count += 1;
    const number = this.#count;
    if (this.#closed) throw new WorkerTaskError('closed', `pool ${this.#options.name} is closed`);
    if (work.signal?.aborted === true) throw cancelled(work.signal);
    if (!this.#own.fits(work.inputBytes) || !this.#shared.fits(work.inputBytes)) {
      this.#publish(number, 'overloaded', null);
      throw new WorkerTaskError(
        'overloaded',
        `pool ${this.#options.name} has ${this.#own.tasks} tasks and ${this.#own.inputBytes} bytes of input pending; try again later`,
      );
    }
    this.#own.reserve(work.inputBytes);
    this.#shared.reserve(work.inputBytes);
    return await new Promise<Output>((resolve, reject) => {
      const task: Task<Input, Output> = {
        number,
        work,
        resolve,
        reject,
        cancel: new AbortController(),
        admittedAt: this.#clock.now(),
        settled: false,
        startedAt: null,
        preparationMs: null,
        executionStartedAt: null,
        transferMs: 0,
        stopListening: () => work.signal?.removeEventListener('abort', onAbort),
      };
      const onAbort = () => {
        this.#cancel(task, cancelled(work.signal));
      };
      work.signal?.addEventListener('abort', onAbort, { once: true });
      this.#queue.push(task);
      this.#dispatch();
    });
  }

  /** Cancels everything, stops all workers and resolves when nothing is left. */
  async close(): Promise<void> {
    this.#closed = true;
    const error = new WorkerTaskError('closed', `pool ${this.#options.name} is closed`);
    for (const task of [...this.#queue, ...this.#active]) this.#cancel(task, error);
    for (const { worker, timer } of this.#idle.splice(0)) {
      timer.cancel();
      this.#keep(worker.stop());
    }
    while (this.#unsettled.size > 0) await Promise.all(this.#unsettled);
  }

  #cancel(task: Task<Input, Output>, error: WorkerTaskError): void {
    if (task.settled) return;
    const queued = this.#queue.indexOf(task);
    if (queued !== -1) {
      this.#queue.splice(queued, 1);
      this.#releaseTask();
      this.#releaseInput(task);
    }
    this.#settle(task, error.code === 'closed' ? 'closed' : 'cancelled', () => task.reject(error));
    task.cancel.abort(error);
  }

  #dispatch(): void {
    while (!this.#closed && this.#places < this.#options.maxWorkers) {
      const task = this.#queue.shift();
      if (task === undefined) return;
      this.#places += 1;
      this.#active.add(task);
      task.startedAt = this.#clock.now();
      this.#keep(this.#execute(task));
    }
  }

  /** Never rejects: what goes wrong is the task's answer. */
  async #execute(task: Task<Input, Output>): Promise<void> {
    let prepared: { readonly input: Input } | undefined;
    try {
      const preparing = this.#clock.now();
      try {
        prepared = { input: await task.work.prepare(task.cancel.signal) };
      } finally {
        task.preparationMs = this.#clock.now() - preparing;
      }
      if (!task.cancel.signal.aborted) await this.#executeOnWorker(task, prepared.input);
    } catch (error) {
      this.#settle(task, 'failed', () => task.reject(error));
    } finally {
      if (prepared !== undefined) {
        try {
          await task.work.dispose?.(prepared.input);
        } catch {
          // The task has its answer; what could not be tidied up is no fault of it.
        }
      }
      this.#active.delete(task);
      this.#releaseTask();
      this.#releaseInput(task);
      this.#places -= 1;
      this.#dispatch();
    }
  }

  async #executeOnWorker(task: Task<Input, Output>, input: Input): Promise<void> {
    const { signal } = task.cancel;
    const permit = await this.#admission.acquire(signal);
    try {
      task.executionStartedAt = this.#clock.now();
      const worker = this.#takeIdle() ?? this.#options.createWorker();
      let stopping: Promise<void> | undefined;
      const stop = () => (stopping ??= worker.stop());
      const onAbort = () => {
        this.#keep(stop());
      };
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        const output = await worker.run(input, this.#contextOf(task, permit));
        this.#settle(task, 'completed', () => task.resolve(output));
      } catch (error) {
        // Before the worker is stopped, which may take longer than its caller wants to wait.
        this.#settle(task, 'failed', () => task.reject(error));
      } finally {
        signal.removeEventListener('abort', onAbort);
        // The permit is kept until a cancelled or spent worker has really stopped.
        if (stopping !== undefined || this.#closed || !worker.reusable()) await stop();
        else this.#rest(worker);
      }
    } finally {
      permit.release();
    }
  }

  #contextOf(task: Task<Input, Output>, permit: Permit): TaskContext {
    return {
      signal: task.cancel.signal,
      checkpoint: async (work) => {
        // The place is lent too, or nested work of this very pool could never start.
        this.#places -= 1;
        this.#dispatch();
        try {
          return await permit.lendDuring(work);
        } finally {
          this.#places += 1;
        }
      },
      transferred: (milliseconds) => {
        task.transferMs += milliseconds;
      },
    };
  }

  #takeIdle(): PoolWorker<Input, Output> | undefined {
    // Last in, first out: the others reach their idle time-out.
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      idle.timer.cancel();
      if (idle.worker.reusable()) return idle.worker;
      this.#keep(idle.worker.stop());
    }
    return undefined;
  }

  #rest(worker: PoolWorker<Input, Output>): void {
    const idle: Idle<Input, Output> = {
      worker,
      timer: this.#clock.after(this.#options.idleMs, () => {
        const index = this.#idle.indexOf(idle);
        if (index === -1) return;
        this.#idle.splice(index, 1);
        this.#keep(worker.stop());
      }),
    };
    this.#idle.push(idle);
  }

  #settle(task: Task<Input, Output>, outcome: WorkerTaskEvent['outcome'], answer: () => void): void {
    if (task.settled) return;
    task.settled = true;
    task.stopListening();
    answer();
    this.#publish(task.number, outcome, task);
  }

  #publish(number: number, outcome: WorkerTaskEvent['outcome'], task: Task<Input, Output> | null): void {
    publishTaskEvent(() => {
      const now = this.#clock.now();
      const executionStartedAt = task?.executionStartedAt ?? null;
      const admittedAt = task?.admittedAt ?? now;
      return {
        pool: this.#options.name,
        task: number,
        outcome,
        queueMs: (executionStartedAt ?? now) - admittedAt - (task?.preparationMs ?? 0),
        preparationMs: task?.preparationMs ?? null,
        executionMs: executionStartedAt === null ? null : now - executionStartedAt,
        transferMs: task?.transferMs ?? 0,
        pendingTasks: this.#own.tasks,
        pendingInputBytes: this.#own.inputBytes,
      };
    });
  }

  #releaseTask(): void {
    this.#own.releaseTask();
    this.#shared.releaseTask();
  }

  #releaseInput(task: Task<Input, Output>): void {
    this.#own.releaseInput(task.work.inputBytes);
    this.#shared.releaseInput(task.work.inputBytes);
  }

  /** Remembers work that nobody awaits, so that `close` can; its failure has no addressee. */
  #keep(work: Promise<void>): void {
    const kept: Promise<void> = work
      .catch(() => undefined)
      .finally(() => {
        this.#unsettled.delete(kept);
      });
    this.#unsettled.add(kept);
  }
}

function cancelled(signal: AbortSignal | undefined): WorkerTaskError {
  return new WorkerTaskError('cancelled', 'the task was cancelled', { cause: signal?.reason });
}
