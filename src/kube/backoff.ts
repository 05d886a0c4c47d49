/** A delay that doubles with every failure in a row, jittered so that many that failed together part. */
export class Backoff {
  readonly #baseMs: number;
  readonly #capMs: number;
  readonly #random: () => number;
  #failures = 0;

  /** @param random in [0, 1) */
  constructor(baseMs: number, capMs: number, random: () => number = Math.random) {
    this.#baseMs = baseMs;
    this.#capMs = capMs;
    this.#random = random;
  }

  /** Failures since the last reset. */
  get failures(): number {
    return this.#failures;
  }

  /** Counts a failure and says how many milliseconds to wait: between half of the step and all of it. */
  next(): number {
    const step = Math.min(this.#capMs, this.#baseMs * 2 ** Math.min(this.#failures, 40));
    this.#failures += 1;
    return step * (0.5 + this.#random() / 2);
  }

  reset(): void {
    this.#failures = 0;
  }
}
