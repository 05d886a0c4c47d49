/** Why a pool did not run a task to its end. An error of the task itself is passed on as it is. */
export const WORKER_TASK_ERROR_CODES = ['overloaded', 'cancelled', 'closed'] as const;
export type WorkerTaskErrorCode = (typeof WORKER_TASK_ERROR_CODES)[number];

/** Thrown by WorkerTaskPool; `overloaded` work was not admitted and may be offered again later. */
export class WorkerTaskError extends Error {
  override readonly name = 'WorkerTaskError';
  readonly code: WorkerTaskErrorCode;

  constructor(code: WorkerTaskErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
