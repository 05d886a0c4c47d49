import { availableParallelism } from 'node:os';

interface Waiter {
  readonly grant: (permit: Permit) => void;
}

/** The right to keep one CPU busy. Held from before a worker starts on a task until it has really stopped. */
export interface Permit {
  /** Gives the permit back; further calls do nothing. */
  release: () => void;
  /**
   * A checkpoint: while `work` is awaited the permit may be taken by anybody who waits for one; it is had back,
   * before all newcomers, when `work` has settled. So work that a task itself waits for can progress.
   */
  lendDuring: <T>(work: () => Promise<T>) => Promise<T>;
}

/**
 * Bounds how many workers compute at once, over every pool that is given the same instance. First come, first
 * served, but tasks that return from a checkpoint go first: they hold memory and are nearer to their end.
 */
export class CpuAdmission {
  readonly limit: number;
  #inUse = 0;
  readonly #waiting: Waiter[] = [];
  /** Permits at a checkpoint, oldest first, with what takes each away. */
  readonly #lendable = new Map<Permit, () => void>();

  constructor(limit: number = Math.max(1, availableParallelism() - 1)) {
    if (!Number.isSafeInteger(limit) || limit < 1) throw new RangeError(`no admission limit: ${limit}`);
    this.limit = limit;
  }

  /** Permits in use; those at a checkpoint count until somebody takes them. */
  get inUse(): number {
    return this.#inUse;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * @returns a permit, when there is one
   * @throws the signal's reason when it is aborted first; then no permit is held
   */
  async acquire(signal?: AbortSignal): Promise<Permit> {
    signal?.throwIfAborted();
    return await this.#wait('behind', signal);
  }

  #wait(place: 'behind' | 'ahead', signal?: AbortSignal): Promise<Permit> {
    return new Promise<Permit>((resolve, reject) => {
      const onAbort = () => {
        const index = this.#waiting.indexOf(waiter);
        if (index === -1) return;
        this.#waiting.splice(index, 1);
        reject(signal?.reason as Error);
      };
      const waiter: Waiter = {
        grant: (permit) => {
          signal?.removeEventListener('abort', onAbort);
          resolve(permit);
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      if (place === 'ahead') this.#waiting.unshift(waiter);
      else this.#waiting.push(waiter);
      this.#dispatch();
    });
  }

  #dispatch(): void {
    while (this.#waiting.length > 0) {
      if (this.#inUse >= this.limit && !this.#takeLent()) return;
      const waiter = this.#waiting.shift();
      if (waiter === undefined) return;
      this.#inUse += 1;
      waiter.grant(this.#createPermit());
    }
  }

  #takeLent(): boolean {
    for (const [permit, take] of this.#lendable) {
      this.#lendable.delete(permit);
      take();
      this.#inUse -= 1;
      return true;
    }
    return false;
  }

  #createPermit(): Permit {
    let state: 'held' | 'lent' | 'released' = 'held';
    const giveBack = () => {
      this.#inUse -= 1;
      this.#dispatch();
    };
    // Another task at a checkpoint of its own may hold what was taken from this one: a permit is a count.
    let substitute: Permit | undefined;
    const permit: Permit = {
      release: () => {
        if (state === 'released') return;
        const wasHeld = state === 'held';
        state = 'released';
        this.#lendable.delete(permit);
        if (substitute !== undefined) substitute.release();
        else if (wasHeld) giveBack();
      },
      lendDuring: async (work) => {
        if (state !== 'held' || this.#lendable.has(permit)) return await work();
        if (substitute !== undefined) return await substitute.lendDuring(work);
        this.#lendable.set(permit, () => {
          state = 'lent';
        });
        this.#dispatch();
        try {
          return await work();
        } finally {
          this.#lendable.delete(permit);
          if (isLent(state)) {
            const again = await this.#wait('ahead');
            // Released meanwhile: the task was cancelled while it waited to go on.
            if (isReleased(state)) again.release();
            else {
              state = 'held';
              substitute = again;
            }
          }
        }
      },
    };
    return permit;
  }
}

type PermitState = 'held' | 'lent' | 'released';

/** `state` is changed by others while `lendDuring` awaits, which control flow analysis cannot see. */
const isLent = (state: PermitState): boolean => state === 'lent';
const isReleased = (state: PermitState): boolean => state === 'released';

/** The admission that all compute pools of the process share: one CPU is left to the process itself. */
export const sharedCpuAdmission = new CpuAdmission();
