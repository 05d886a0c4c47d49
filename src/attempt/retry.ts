import type { RetrySpec } from '../api/benchmark-run.ts';
import type { TrialAttempt } from '../api/trial.ts';
import { retryGroupOf } from './failure-class.ts';
import type { RetryGroup } from './failure-class.ts';

/** Longest wait before another attempt, in seconds. */
const MOST_SECONDS = 300;

export type NextStep =
  /** The last attempt stands: the agent ended in order, or by its own doing. */
  | { readonly step: 'accept' }
  /** Another attempt, after this wait. `group` is what it is charged to; null when the last one is not charged. */
  | { readonly step: 'retry'; readonly delayMs: number; readonly group: RetryGroup | null }
  /** The last attempt stands although it was not the agent's doing. */
  | {
      readonly step: 'give_up';
      readonly why: 'not_retryable' | 'retries_exhausted';
      readonly allowed: number;
    };

/**
 * Decides what follows after the last of a trial's attempts has ended. Pure; recomputed from the record, so that
 * a restart decides the same.
 *
 * Each group has its own bound: a trial may use up all its retries for a provider and still be retried for the
 * machine. An attempt of an earlier `rerun` revision is not charged against the present one. The wait doubles
 * with each retry of a group; half of it is random, so that trials that failed together do not return together.
 *
 * @param attempts the trial's ended attempts, oldest first
 * @param random uniform in [0, 1)
 */
export function nextStep(
  attempts: readonly Pick<TrialAttempt, 'class' | 'reason' | 'counted' | 'rerunRevision'>[],
  retry: RetrySpec,
  random: () => number,
): NextStep {
  const last = attempts.at(-1);
  if (last === undefined) return { step: 'retry', delayMs: 0, group: null };
  if (last.class === null || last.class === 'agent') return { step: 'accept' };
  const group = last.reason === null ? null : retryGroupOf(last.reason);
  if (group === null) return { step: 'give_up', why: 'not_retryable', allowed: 0 };
  if (!last.counted) return { step: 'retry', delayMs: 0, group: null };
  const charged = attempts.filter(
    (attempt) =>
      attempt.counted &&
      attempt.rerunRevision === last.rerunRevision &&
      attempt.reason !== null &&
      retryGroupOf(attempt.reason) === group,
  ).length;
  const allowed = retry[group];
  if (charged > allowed) return { step: 'give_up', why: 'retries_exhausted', allowed };
  return { step: 'retry', delayMs: backoffMs(charged, retry.backoffSeconds, random), group };
}

/** @param nth 1-based number of the retry within its group */
function backoffMs(nth: number, firstSeconds: number, random: () => number): number {
  const seconds = Math.min(MOST_SECONDS, firstSeconds * 2 ** (nth - 1));
  return Math.round(seconds * (0.5 + 0.5 * random()) * 1000);
}
