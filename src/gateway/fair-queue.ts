import type { GatewayClock } from './clock.ts';
import type { RateLimits } from './rate-limits.ts';

/** A place among the calls that are being served. */
export interface Ticket {
  /** How long the call waited for it; milliseconds. */
  readonly heldMs: number;
  /** Gives the place back. Harmless when called again. */
  readonly leave: () => void;
}

/** What a key's calls were held for. */
export interface Held {
  readonly heldMs: number;
  /** Whether they are being held now. */
  readonly holding: boolean;
}

interface Waiter {
  readonly since: number;
  readonly admit: (ticket: Ticket) => void;
}

interface Caller {
  readonly waiting: Waiter[];
  serving: number;
  heldMs: number;
  /** Since when all of the caller's calls wait; null when one is served or none is there. */
  heldSince: number | null;
}

/** The call was given up before its turn came. */
export class QueueLeft extends Error {
  override readonly name = 'QueueLeft';
}

/**
 * Lets at most `concurrency` calls of a run go to the provider at once. Callers (attempts) take turns, so that one
 * that sends many calls holds up none of the others; the calls of one caller keep their order.
 *
 * A caller counts as held while at least one of its calls waits and none is being served: a caller that only waits
 * for itself earns no time by it.
 */
export class FairQueue {
  private readonly concurrency: number;
  private readonly rates: RateLimits;
  private readonly clock: GatewayClock;
  private readonly callers = new Map<string, Caller>();
  /** Callers with waiting calls; the first is next. */
  private readonly turns: string[] = [];
  private serving = 0;
  private cancelWakeUp: (() => void) | null = null;

  /** @param concurrency null: no limit */
  constructor(concurrency: number | null, rates: RateLimits, clock: GatewayClock) {
    this.concurrency = concurrency ?? Number.POSITIVE_INFINITY;
    this.rates = rates;
    this.clock = clock;
  }

  /** Calls that wait. */
  get waiting(): number {
    return this.turns.reduce((sum, key) => sum + this.caller(key).waiting.length, 0);
  }

  /** @throws QueueLeft when the signal came before the call's turn */
  async enter(key: string, signal: AbortSignal): Promise<Ticket> {
    if (signal.aborted) throw new QueueLeft('the caller is gone');
    const caller = this.caller(key);
    return await new Promise<Ticket>((resolve, reject) => {
      const leaveQueue = () => {
        const at = caller.waiting.indexOf(waiter);
        if (at < 0) return;
        caller.waiting.splice(at, 1);
        if (caller.waiting.length === 0) this.turns.splice(this.turns.indexOf(key), 1);
        this.noteHeld(caller);
        reject(new QueueLeft('the caller is gone'));
      };
      const waiter: Waiter = {
        since: this.clock.monotonicMs(),
        admit: (ticket) => {
          signal.removeEventListener('abort', leaveQueue);
          resolve(ticket);
        },
      };
      signal.addEventListener('abort', leaveQueue, { once: true });
      caller.waiting.push(waiter);
      if (caller.waiting.length === 1) this.turns.push(key);
      this.advance();
      this.noteHeld(caller);
    });
  }

  held(key: string): Held {
    const caller = this.callers.get(key);
    if (caller === undefined) return { heldMs: 0, holding: false };
    const { heldMs, heldSince } = caller;
    const now = heldSince === null ? 0 : this.clock.monotonicMs() - heldSince;
    return { heldMs: heldMs + now, holding: heldSince !== null };
  }

  /** Forgets what a caller was held for, once it will not ask again. */
  forget(key: string): void {
    const caller = this.callers.get(key);
    if (caller?.serving === 0 && caller.waiting.length === 0) this.callers.delete(key);
  }

  private advance(): void {
    this.cancelWakeUp?.();
    this.cancelWakeUp = null;
    while (this.turns.length > 0 && this.serving < this.concurrency) {
      const now = this.clock.monotonicMs();
      const waitMs = this.rates.waitMs(now);
      if (waitMs > 0) {
        this.cancelWakeUp = this.clock.after(waitMs, () => this.advance());
        return;
      }
      this.admitNext(now);
    }
  }

  private admitNext(now: number): void {
    const key = this.turns.shift();
    if (key === undefined) return;
    const caller = this.caller(key);
    const waiter = caller.waiting.shift();
    if (caller.waiting.length > 0) this.turns.push(key);
    if (waiter === undefined) return;
    this.serving += 1;
    caller.serving += 1;
    this.rates.started(now);
    this.noteHeld(caller);
    let left = false;
    const leave = () => {
      if (left) return;
      left = true;
      this.serving -= 1;
      caller.serving -= 1;
      this.advance();
      this.noteHeld(caller);
    };
    waiter.admit({ heldMs: now - waiter.since, leave });
  }

  /** Starts or stops the clock of a caller's held time after its calls have changed. */
  private noteHeld(caller: Caller): void {
    const now = this.clock.monotonicMs();
    const holding = caller.waiting.length > 0 && caller.serving === 0;
    if (holding) caller.heldSince ??= now;
    else if (caller.heldSince !== null) {
      caller.heldMs += now - caller.heldSince;
      caller.heldSince = null;
    }
  }

  private caller(key: string): Caller {
    let caller = this.callers.get(key);
    if (caller === undefined) {
      caller = { waiting: [], serving: 0, heldMs: 0, heldSince: null };
      this.callers.set(key, caller);
    }
    return caller;
  }
}
