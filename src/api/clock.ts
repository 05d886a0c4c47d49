/** Time, passed in, so that tests can hold it. */
export interface Clock {
  /** Milliseconds that never go backwards. All durations come from it. */
  readonly monotonicMs: () => number;
  /** Time of day, for records. */
  readonly date: () => Date;
  /** Resolves after `ms`, or at once when the signal aborts: the caller looks at what happened. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export const systemClock: Clock = {
  monotonicMs: () => performance.now(),
  date: () => new Date(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) {
        resolve();
        return;
      }
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener('abort', done, { once: true });
    }),
};
