import type { Round } from '../../api/container-requests.ts';
import { hasEnded, notScored } from '../trial/transitions.ts';
import type { PlanDraft } from './plan-draft.ts';
import type { RoundFacts, RunObservation, TrialView } from './observation.ts';

/** Failed rounds after which the trials in them are scoring errors. */
const MOST_FAILED_ROUNDS = 3;
/** How long the Trials of a completed round may take to show their scores in the cache. */
const SETTLE_MS = 60_000;
/** Wait before a round after a failed one, doubling. */
const BACKOFF_MS = 10_000;

export type Scoring =
  /** Trials are still to be scored, or a round runs. */
  | { readonly state: 'open' }
  /** Everything is scored or is a scoring error, and the report is written. */
  | { readonly state: 'done' }
  /** The report cannot be made, or trials cannot be scored again. */
  | { readonly state: 'impossible'; readonly message: string };

/**
 * Plans score rounds: one at a time, when a batch waits or every trial has ended. A round that failed is made again, as
 * a new one, three times in all for every trial in it.
 */
export function planRounds(
  observation: RunObservation,
  allEnded: boolean,
  draft: PlanDraft,
  now: number,
): Scoring {
  const { run, rounds } = observation;
  const { revision, batchSize } = run.spec.scoring;
  const latest = rounds.at(-1);
  if (latest?.job === null) {
    draft.children.push({ kind: 'round', number: latest.number, list: latest.list });
    return { state: 'open' };
  }
  if (latest?.job?.state === 'active') return { state: 'open' };

  const waiting = observation.trials.filter((trial) => needsScore(trial, revision));
  const settleBy = (latest?.job?.endedAt ?? 0) + SETTLE_MS;
  if (
    latest?.job?.state === 'complete' &&
    latest.list.revision === revision &&
    now < settleBy &&
    waiting.some((trial) => isListed(latest, trial))
  ) {
    draft.wakeAt(settleBy);
    return { state: 'open' };
  }

  const hopeless = waiting.filter((trial) => failuresOf(rounds, trial, revision) >= MOST_FAILED_ROUNDS);
  const why = lastFailure(rounds);
  for (const trial of hopeless) {
    // A trial that was scored before keeps its score: only scoring it again failed.
    if (trial.status.phase === 'Scored') continue;
    draft.trialStatuses.push({
      trial,
      status: notScored(trial.status, revision, `ScoringFailed: ${why}`),
    });
  }
  if (draft.trialStatuses.length > 0) return { state: 'open' };

  const pending = waiting.filter((trial) => !hopeless.includes(trial));
  if (!allEnded && pending.length < batchSize) return { state: 'open' };
  if (pending.length === 0 && isReported(latest, revision)) {
    return hopeless.length === 0
      ? { state: 'done' }
      : { state: 'impossible', message: `${hopeless.length} trials could not be scored again: ${why}` };
  }
  if (!allEnded && pending.length === 0) return { state: 'open' };
  if (pending.length === 0 && reportFailures(rounds, revision) >= MOST_FAILED_ROUNDS) {
    return { state: 'impossible', message: `the report could not be made: ${why}` };
  }
  const failures = failedInARow(rounds);
  const notBefore = (latest?.job?.endedAt ?? 0) + (failures === 0 ? 0 : BACKOFF_MS * 2 ** (failures - 1));
  if (now < notBefore) {
    draft.wakeAt(notBefore);
    return { state: 'open' };
  }
  const list: Round = {
    revision,
    last: allEnded && pending.length <= batchSize,
    trials: pending.slice(0, batchSize).map(entryOf),
  };
  draft.children.push({ kind: 'round', number: (latest?.number ?? 0) + 1, list });
  return { state: 'open' };
}

function needsScore({ status }: TrialView, revision: number): boolean {
  if (status.phase === 'Executed') return true;
  return (
    status.phase === 'Scored' && status.outcome !== 'unsupported' && (status.scoredRevision ?? 0) < revision
  );
}

function entryOf({ name, spec, status }: TrialView): Round['trials'][number] {
  const attempt = status.decidedBy;
  if (attempt === null) throw new RangeError(`Trial ${name} is ${status.phase} and no attempt stands for it`);
  const digest = status.attempts.find(({ number }) => number === attempt)?.artifacts?.digest ?? '';
  return {
    trial: name,
    scenarioId: spec.scenarioId,
    number: spec.trialNumber,
    attempt,
    digest: digest === '' ? null : digest,
    class: status.class,
    execution: status.execution ?? 'error',
  };
}

/** Whether a round was about this trial as it stands: its deciding attempt. */
function isListed({ list }: RoundFacts, { name, status }: TrialView): boolean {
  return list.trials.some(({ trial, attempt }) => trial === name && attempt === status.decidedBy);
}

/** Ended rounds that a trial was in and that left it without a score, whatever they said of themselves. */
function failuresOf(rounds: readonly RoundFacts[], trial: TrialView, revision: number): number {
  return rounds.filter(
    (round) =>
      round.job !== null &&
      round.job.state !== 'active' &&
      round.list.revision === revision &&
      isListed(round, trial),
  ).length;
}

function reportFailures(rounds: readonly RoundFacts[], revision: number): number {
  return rounds.filter(
    ({ job, list }) =>
      job?.state === 'failed' && list.revision === revision && list.last && list.trials.length === 0,
  ).length;
}

function failedInARow(rounds: readonly RoundFacts[]): number {
  const lastGood = rounds.findLastIndex(({ job }) => job?.state !== 'failed');
  return rounds.length - 1 - lastGood;
}

function isReported(latest: RoundFacts | undefined, revision: number): boolean {
  return latest?.job?.state === 'complete' && latest.list.last && latest.list.revision === revision;
}

function lastFailure(rounds: readonly RoundFacts[]): string {
  return rounds.findLast(({ job }) => job?.state === 'failed')?.job?.said ?? 'no round failed';
}

/** Whether every declared trial is there and needs no further attempt. */
export function haveAllEnded(trials: readonly TrialView[], declared: number): boolean {
  return trials.length >= declared && trials.every(({ status }) => hasEnded(status));
}
