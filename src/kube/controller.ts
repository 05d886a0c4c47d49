import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '../api/clock.ts';
import { ApiStatusError, TerminalError } from './errors.ts';
import { WorkQueue, type WorkQueueOptions } from './work-queue.ts';

export interface ReconcileResult {
  /** Ask for the key again after so long, whatever happens; absent: only when something changes. */
  readonly requeueAfterSeconds?: number;
}

export interface ReconcileContext {
  /** On every log line of this pass. */
  readonly reconcileId: string;
  /** Aborts when the controller is to stop: pass it to every call. */
  readonly signal: AbortSignal;
}

/** Reads what there is, plans, writes. Gets a key, never an event; a pass never waits for the world. */
export type Reconcile = (key: string, context: ReconcileContext) => Promise<ReconcileResult | undefined>;

/** How one pass ended. `terminal`: trying again cannot help, only a change of the object. */
export type ReconcileOutcome = 'success' | 'requeue_after' | 'error' | 'terminal' | 'aborted';

export interface ReconcileReport {
  readonly controller: string;
  readonly key: string;
  readonly reconcileId: string;
  readonly outcome: ReconcileOutcome;
  readonly seconds: number;
  readonly error?: unknown;
  /** After an error: until the next try. */
  readonly retryAfterSeconds?: number;
}

export interface ControllerOptions {
  readonly name: string;
  readonly reconcile: Reconcile;
  /** Passes at once, of different keys. Default 4. */
  readonly workers?: number;
  /** Every key there is; all are enqueued now and then, because a missed event must not leave one stuck. */
  readonly allKeys: () => Iterable<string>;
  /** Default 300 s, jittered by a tenth. */
  readonly resyncSeconds?: number;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly queue?: Omit<WorkQueueOptions, 'clock' | 'random'>;
  readonly onReconcile?: (report: ReconcileReport) => void;
}

/** Longest wait taken over from a server's Retry-After. */
const RETRY_AFTER_CAP_SECONDS = 60;

/** Runs a reconcile function over a work queue with a fixed number of workers. */
export class Controller {
  readonly name: string;
  readonly queue: WorkQueue;
  readonly #options: ControllerOptions;
  readonly #clock: Clock;
  readonly #random: () => number;

  constructor(options: ControllerOptions) {
    this.name = options.name;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.queue = new WorkQueue({ ...options.queue, clock: this.#clock, random: this.#random });
  }

  /** Wants a pass over a key: what change handlers call. */
  enqueue(key: string): void {
    this.queue.add(key);
  }

  /**
   * Works until `signal` aborts, and resolves when the last pass has ended. Call it when the caches have synced,
   * once.
   */
  async run(signal: AbortSignal): Promise<void> {
    const stop = () => this.queue.shutDown();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    const workers = Array.from({ length: this.#options.workers ?? 4 }, () => this.#work(signal));
    await Promise.all([this.#resync(signal), ...workers]);
    signal.removeEventListener('abort', stop);
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (;;) {
      const key = await this.queue.take();
      if (key === null) return;
      try {
        await this.#pass(key, signal);
      } finally {
        this.queue.done(key);
      }
    }
  }

  async #pass(key: string, signal: AbortSignal): Promise<void> {
    const reconcileId = randomUUID();
    const startedMs = this.#clock.monotonicMs();
    const report = (outcome: ReconcileOutcome, rest: Partial<ReconcileReport> = {}) => {
      const seconds = (this.#clock.monotonicMs() - startedMs) / 1000;
      this.#options.onReconcile?.({ controller: this.name, key, reconcileId, outcome, seconds, ...rest });
    };
    let result: ReconcileResult | undefined;
    try {
      result = await this.#options.reconcile(key, { reconcileId, signal });
    } catch (error) {
      if (signal.aborted) {
        report('aborted', { error });
      } else if (error instanceof TerminalError) {
        this.queue.forget(key);
        report('terminal', { error });
      } else {
        const asked = error instanceof ApiStatusError ? (error.retryAfterSeconds ?? 0) : 0;
        const atLeastMs = Math.min(asked, RETRY_AFTER_CAP_SECONDS) * 1000;
        const retryAfterSeconds = this.queue.addRateLimited(key, atLeastMs) / 1000;
        report('error', { error, retryAfterSeconds });
      }
      return;
    }
    this.queue.forget(key);
    const after = result?.requeueAfterSeconds;
    if (after === undefined) {
      report('success');
    } else {
      this.queue.addAfter(key, after * 1000);
      report('requeue_after');
    }
  }

  async #resync(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const key of this.#options.allKeys()) this.queue.add(key);
      const seconds = (this.#options.resyncSeconds ?? 300) * (0.95 + this.#random() / 10);
      await this.#clock.sleep(seconds * 1000, signal);
    }
  }
}
