import { performance } from 'node:perf_hooks';

export interface Timer {
  readonly cancel: () => void;
}

/** Time as a pool needs it; a test passes its own. */
export interface PoolClock {
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /** Calls `action` once; does not keep the process alive. */
  readonly after: (milliseconds: number, action: () => void) => Timer;
}

export const systemPoolClock: PoolClock = {
  now: () => performance.now(),
  after: (milliseconds, action) => {
    const timer = setTimeout(action, milliseconds);
    timer.unref();
    return {
      cancel: () => {
        clearTimeout(timer);
      },
    };
  },
};
