/** Bounds on admitted work that has not been released yet. */
export interface PendingBounds {
  readonly tasks: number;
  /** Input bytes as producers report them: nothing is serialised to find out. */
  readonly inputBytes: number;
}

export const DEFAULT_PENDING_BOUNDS: PendingBounds = { tasks: 128, inputBytes: 256 * 1024 * 1024 };

/**
 * Counts pending tasks (queued, preparing, running) and the input they retain. The two are given back apart:
 * a cancelled task's input may outlive it, until its preparation settles.
 */
export class PendingLimits {
  readonly bounds: PendingBounds;
  #tasks = 0;
  #inputBytes = 0;

  constructor(bounds: PendingBounds = DEFAULT_PENDING_BOUNDS) {
    this.bounds = bounds;
  }

  get tasks(): number {
    return this.#tasks;
  }

  get inputBytes(): number {
    return this.#inputBytes;
  }

  /** Whether one more task with so much input fits. */
  fits(inputBytes: number): boolean {
    return this.#tasks < this.bounds.tasks && this.#inputBytes + inputBytes <= this.bounds.inputBytes;
  }

  reserve(inputBytes: number): void {
    this.#tasks += 1;
    this.#inputBytes += inputBytes;
  }

  releaseTask(): void {
    this.#tasks -= 1;
  }

  releaseInput(inputBytes: number): void {
    this.#inputBytes -= inputBytes;
  }
}

/** Bounds that all compute pools of the process share beside their own. */
export const computePendingLimits = new PendingLimits();
