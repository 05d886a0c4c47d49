import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Clock } from '../../src/api/clock.ts';

interface Sleeper {
  readonly dueMs: number;
  readonly wake: () => void;
}

/** A clock that stands still until a test moves it. */
export class FakeClock implements Clock {
  #nowMs = 1_000_000;
  #sleepers: Sleeper[] = [];
  readonly #settle: () => Promise<void>;

  /** @param settle waits for what the woken code does outside of timers, e.g. on sockets */
  constructor(settle: () => Promise<void> = turns) {
    this.#settle = settle;
  }

  monotonicMs = (): number => this.#nowMs;
  date = (): Date => new Date(Date.UTC(2026, 0, 1) + this.#nowMs);

  sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal?.aborted === true) {
        resolve();
        return;
      }
      const sleeper: Sleeper = { dueMs: this.#nowMs + Math.max(0, ms), wake: resolve };
      this.#sleepers.push(sleeper);
      signal?.addEventListener(
        'abort',
        () => {
          this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
          resolve();
        },
        { once: true },
      );
    });

  /** Moves time, waking each sleeper at its own moment and letting it work before the next. */
  async advance(ms: number): Promise<void> {
    const target = this.#nowMs + ms;
    await this.#settle();
    for (;;) {
      const next = this.#sleepers.toSorted((a, b) => a.dueMs - b.dueMs).find(({ dueMs }) => dueMs <= target);
      if (next === undefined) break;
      this.#sleepers = this.#sleepers.filter((other) => other !== next);
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      next.wake();
      await this.#settle();
    }
    this.#nowMs = target;
    await this.#settle();
  }

  /** Moves time as a frozen process sees it: nobody runs meanwhile. */
  jump(ms: number): void {
    this.#nowMs += ms;
  }
}

/** A clock on which every sleep is over at once; it remembers how long they were to be. */
export class RecordingClock implements Clock {
  readonly sleptMs: number[] = [];
  #nowMs = 0;
  monotonicMs = (): number => this.#nowMs;
  date = (): Date => new Date(this.#nowMs);
  sleep = (ms: number): Promise<void> => {
    this.sleptMs.push(ms);
    this.#nowMs += ms;
    return Promise.resolve();
  };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await setImmediate();
}

/** Waits in real time until something holds. */
export async function until(holds: () => boolean, what: string, ms = 15_000): Promise<void> {
  const end = performance.now() + ms;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`never came: ${what}`);
    await setTimeout(2);
  }
}
