/** Milliseconds of work on the event loop before other work gets its turn. */
const SLICE_MS = 10;

/**
 * Lets long file work run in slices. System calls on a local disk take microseconds, the way through a thread
 * pool many times that, so the collector works synchronously and gives the event loop back every 10 ms: in
 * `clawbench local` one process watches several attempts.
 */
export class TimeSlices {
  readonly #signal: AbortSignal | undefined;
  #until = performance.now() + SLICE_MS;

  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  /** True when the work must stop where it is. */
  isStopped(): boolean {
    return this.#signal?.aborted ?? false;
  }

  /** To be called between units of work of at most a few milliseconds. */
  async breathe(): Promise<void> {
    if (performance.now() < this.#until) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#until = performance.now() + SLICE_MS;
  }
}
