import { type Clock, systemClock } from '../api/clock.ts';

/** Called as things happen; for metrics. */
export interface WorkQueueHooks {
  /** Keys that wait to be taken, after a change. */
  readonly onDepth?: (depth: number) => void;
  /** Seconds that a key waited from its addition until it was taken. */
  readonly onLatency?: (seconds: number) => void;
  /** Seconds from taking a key to `done`. */
  readonly onWorkDuration?: (seconds: number) => void;
  /** A key was added for another try after a failure. */
  readonly onRetry?: () => void;
}

export interface WorkQueueOptions {
  readonly clock?: Clock;
  /** In [0, 1). */
  readonly random?: () => number;
  /** First delay of `addRateLimited`; doubles per failure of the same key. Default 200 ms. */
  readonly backoffBaseMs?: number;
  /** Default 60 s. */
  readonly backoffCapMs?: number;
  readonly hooks?: WorkQueueHooks;
}

/**
 * Keys that want work. A key that is added many times is worked on once; one that is added while it is worked
 * on is worked on again afterwards, never at the same time.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #backoffBaseMs: number;
  readonly #backoffCapMs: number;
  readonly #hooks: WorkQueueHooks;
  /** Waiting to be taken, in order, with the time of addition. */
  readonly #ready = new Map<string, number>();
  /** Being worked on, with the time of taking. */
  readonly #processing = new Map<string, number>();
  /** Added while they were worked on. */
  readonly #again = new Map<string, number>();
  /** Added for later: the time at which they become ready. */
  readonly #delayed = new Map<string, number>();
  readonly #failures = new Map<string, number>();
  readonly #takers: ((key: string | null) => void)[] = [];
  readonly #idleWaiters: (() => void)[] = [];
  #alarm: { readonly dueMs: number; readonly cancel: AbortController } | null = null;
  #shutDown = false;

  constructor(options: WorkQueueOptions = {}) {
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#backoffBaseMs = options.backoffBaseMs ?? 200;
    this.#backoffCapMs = options.backoffCapMs ?? 60_000;
    this.#hooks = options.hooks ?? {};
  }

  /** Keys that wait to be taken now. */
  get depth(): number {
    return this.#ready.size;
  }

  /** Keys that are worked on now. */
  get active(): number {
    return this.#processing.size;
  }

  /** Keys that wait for their time. */
  get waiting(): number {
    return this.#delayed.size;
  }

  /** Wants work on a key now. */
  add(key: string): void {
    if (this.#shutDown) return;
    this.#delayed.delete(key);
    this.#makeReady(key);
  }

  /** Wants work on a key after `ms`; of several wishes for later the earliest counts. */
  addAfter(key: string, ms: number): void {
    if (this.#shutDown) return;
    if (ms <= 0) {
      this.add(key);
      return;
    }
    const dueMs = this.#clock.monotonicMs() + ms;
    const known = this.#delayed.get(key);
    if (known !== undefined && known <= dueMs) return;
    this.#delayed.set(key, dueMs);
    this.#setAlarm();
  }

  /** Wants another try after a failure, later with every one. Returns the delay in milliseconds. */
  addRateLimited(key: string, atLeastMs = 0): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    const step = Math.min(this.#backoffCapMs, this.#backoffBaseMs * 2 ** Math.min(failures, 40));
    const delayMs = Math.max(atLeastMs, step * (0.5 + this.#random() / 2));
    this.#hooks.onRetry?.();
    this.addAfter(key, delayMs);
    return delayMs;
  }

  /** Failures in a row of a key. */
  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** The key's work went well: its next failure is a first one. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** The next key, which the caller ends with `done`; null once the queue is shut down. */
  take(): Promise<string | null> {
    if (this.#shutDown) return Promise.resolve(null);
    const next = this.#ready.keys().next();
    if (next.done === true) return new Promise((resolve) => this.#takers.push(resolve));
    return Promise.resolve(this.#start(next.value));
  }

  /** The work on a key ended, however. */
  done(key: string): void {
    const startedMs = this.#processing.get(key);
    if (startedMs === undefined) return;
    this.#processing.delete(key);
    this.#hooks.onWorkDuration?.((this.#clock.monotonicMs() - startedMs) / 1000);
    if (this.#again.delete(key) && !this.#shutDown) this.#makeReady(key);
    if (this.#processing.size === 0) for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  /** Takes nothing more and forgets what waits; keys in work end as they do. */
  shutDown(): void {
    this.#shutDown = true;
    this.#ready.clear();
    this.#again.clear();
    this.#delayed.clear();
    this.#alarm?.cancel.abort();
    this.#alarm = null;
    for (const resolve of this.#takers.splice(0)) resolve(null);
    this.#hooks.onDepth?.(0);
  }

  /** Resolves when no key is worked on. */
  idle(): Promise<void> {
    if (this.#processing.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  #makeReady(key: string): void {
    const nowMs = this.#clock.monotonicMs();
    if (this.#processing.has(key)) {
      if (!this.#again.has(key)) this.#again.set(key, nowMs);
      return;
    }
    if (this.#ready.has(key)) return;
    this.#ready.set(key, nowMs);
    const taker = this.#takers.shift();
    if (taker === undefined) this.#hooks.onDepth?.(this.#ready.size);
    else taker(this.#start(key));
  }

  #start(key: string): string {
    const nowMs = this.#clock.monotonicMs();
    this.#hooks.onLatency?.((nowMs - (this.#ready.get(key) ?? nowMs)) / 1000);
    this.#ready.delete(key);
    this.#processing.set(key, nowMs);
    this.#hooks.onDepth?.(this.#ready.size);
    return key;
  }

  /** One timer for all delayed keys, set to the earliest. */
  #setAlarm(): void {
    let dueMs = Infinity;
    for (const due of this.#delayed.values()) dueMs = Math.min(dueMs, due);
    if (dueMs === Infinity || (this.#alarm !== null && this.#alarm.dueMs <= dueMs)) return;
    this.#alarm?.cancel.abort();
    const cancel = new AbortController();
    this.#alarm = { dueMs, cancel };
    const waitMs = Math.max(0, dueMs - this.#clock.monotonicMs());
    void this.#clock.sleep(waitMs, cancel.signal).then(() => {
      if (!cancel.signal.aborted) this.#ring();
    });
  }

  #ring(): void {
    this.#alarm = null;
    const nowMs = this.#clock.monotonicMs();
    for (const [key, dueMs] of this.#delayed) {
      if (dueMs > nowMs) continue;
      this.#delayed.delete(key);
      this.#makeReady(key);
    }
    this.#setAlarm();
  }
}
