import { channel } from 'node:diagnostics_channel';

/** Name of the `node:diagnostics_channel` on which pools tell what became of each task. */
export const WORKER_TASK_CHANNEL = 'clawbench.worker.task';

/**
 * One message a task, published when the task has settled. Times in milliseconds; a phase that was not reached
 * is null. Carries no input and no result of a task.
 */
export interface WorkerTaskEvent {
  readonly pool: string;
  /** Number of the task within its pool, from 1. */
  readonly task: number;
  readonly outcome: 'completed' | 'failed' | 'cancelled' | 'overloaded' | 'closed';
  /** From admission until a worker's place and a CPU permit were had, without preparation. */
  readonly queueMs: number;
  readonly preparationMs: number | null;
  /** Wall time of the worker, its start and its waits for the host included. */
  readonly executionMs: number | null;
  /** Of `executionMs`, moving messages in and out, as the worker reported it. */
  readonly transferMs: number;
  /** What is pending in this pool; a settled task counts until what it holds is released. */
  readonly pendingTasks: number;
  readonly pendingInputBytes: number;
}

const events = channel(WORKER_TASK_CHANNEL);

/** Publishes if anybody listens; `create` is not called otherwise. */
export function publishTaskEvent(create: () => WorkerTaskEvent): void {
  if (events.hasSubscribers) events.publish(create());
}
