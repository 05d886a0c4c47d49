import type { FailureClass } from '../api/vocabulary.ts';

/** An attempt that ended, as the breaker sees it. `class` is null where the agent ended in order. */
export interface EndedAttempt {
  readonly class: FailureClass | null;
  readonly reason: string | null;
}

/** The one cause that all recent attempts ended by. */
export interface BreakerTrip {
  readonly class: FailureClass;
  readonly reason: string;
  readonly attempts: number;
}

/**
 * Decides whether to stop starting attempts: the last `max(parallelism, 10)` ended attempts share one class other than
 * `agent` and one reason, with nothing else between. What the agent causes never trips it, because it is a
 * result.
 *
 * @param ended attempts of this invocation in the order they ended
 */
export function tripped(ended: readonly EndedAttempt[], parallelism: number): BreakerTrip | null {
  const needed = Math.max(parallelism, 10);
  const recent = ended.slice(-needed);
  const [first] = recent;
  if (recent.length < needed || first === undefined) return null;
  const { class: failureClass, reason } = first;
  if (failureClass === null || failureClass === 'agent' || reason === null) return null;
  const same = recent.every((attempt) => attempt.class === failureClass && attempt.reason === reason);
  return same ? { class: failureClass, reason, attempts: needed } : null;
}
