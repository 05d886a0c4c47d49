import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { AttemptResult } from '../api/attempt.ts';
import type { RetrySpec } from '../api/benchmark-run.ts';
import { InfrastructureError, messageOf } from '../api/errors.ts';
import type { ScoreRecord } from '../api/score.ts';
import type { TrialAttempt, TrialRecord } from '../api/trial.ts';
import { classifyAttempt } from '../attempt/failure-class.ts';
import { nextStep } from '../attempt/retry.ts';
import { tripped, type BreakerTrip, type EndedAttempt } from '../attempt/breaker.ts';
import type { RunEvent } from './progress.ts';
import {
  attemptEnded,
  attemptStarted,
  trialBackingOff,
  trialExecuted,
  trialScored,
  type CollectedArtifacts,
} from '../attempt/trial-state.ts';

/** What the schedule needs of the world; a test passes its own. */
export interface ScheduleWorld {
  /** Runs one attempt to its end. Never throws for what an agent did. */
  readonly runAttempt: (
    trial: TrialRecord,
    attempt: TrialAttempt,
    signal: AbortSignal,
  ) => Promise<AttemptResult>;
  /** Files and bytes that the attempt's manifest lists, or null without one. */
  readonly artifactsOf: (trial: TrialRecord, attempt: number) => Promise<CollectedArtifacts | null>;
  /** Grades an executed trial and stores its score record. */
  readonly score: (trial: TrialRecord) => Promise<ScoreRecord>;
  /** Stores a trial's record durably. */
  readonly store: (trial: TrialRecord) => Promise<void>;
  readonly now: () => Date;
  /** Uniform in [0, 1): jitter of the back-off. */
  readonly random: () => number;
  readonly onEvent: (event: RunEvent) => void;
}

export interface ScheduleOptions {
  readonly parallelism: number;
  /** Trials graded at once; the others wait here, where waiting costs nothing. */
  readonly scoringParallelism: number;
  readonly retry: RetrySpec;
  /** Ends running attempts, with everything collected, and starts no others. */
  readonly signal: AbortSignal;
}

/** Why a schedule ended before every trial did. */
export type EarlyStop =
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'breaker'; readonly reason: string }
  | { readonly kind: 'fault'; readonly error: unknown };

/**
 * Runs open trials, at most `parallelism` attempts at once, each until it is scored. A trial in back-off holds no
 * slot. Returns when every trial ended, or why it stopped before; every record is then on the disk.
 */
export async function runSchedule(
  trials: readonly TrialRecord[],
  options: ScheduleOptions,
  world: ScheduleWorld,
): Promise<EarlyStop | null> {
  const waiting = trials
    .filter((trial) => trial.phase !== 'Executed')
    .map((trial) => ({ trial, notBefore: 0 }));
  const executedTrials = trials.filter((trial) => trial.phase === 'Executed');
  const ended: EndedAttempt[] = [];
  const tasks = new Set<Promise<void>>();
  const stopping = new AbortController();
  const attemptSignal = AbortSignal.any([options.signal, stopping.signal]);
  let running = 0;
  let scoring = 0;
  let stop: EarlyStop | null = null;
  let wake: () => void = () => undefined;

  function fail(error: unknown): void {
    // The first fault names the cause; what follows from it does not replace it.
    if (stop?.kind !== 'fault') stop = { kind: 'fault', error };
    stopping.abort();
    wake();
  }

  async function attempt(open: TrialRecord): Promise<void> {
    const begun = attemptStarted(open, randomUUID(), world.now().toISOString());
    await world.store(begun.trial);
    const { scenarioId, trialNumber } = open;
    const { number } = begun.attempt;
    world.onEvent({ kind: 'attempt-started', scenarioId, trialNumber, attempt: number });
    const result = await world.runAttempt(begun.trial, begun.attempt, attemptSignal);
    const classification = classifyAttempt({ result });
    const artifacts = await world.artifactsOf(begun.trial, number);
    const after = attemptEnded(begun.trial, result, classification, artifacts);
    ended.push(classification);
    if (!classification.counted && attemptSignal.aborted) {
      await world.store({ ...after, phase: 'Pending' });
      return;
    }
    const next = nextStep(after.attempts, options.retry, world.random);
    if (next.step === 'retry') {
      const reason = classification.reason ?? 'unknown';
      const backingOff = trialBackingOff(after, reason);
      await world.store(backingOff);
      const delaySeconds = next.delayMs / 1000;
      world.onEvent({
        kind: 'attempt-retried',
        scenarioId,
        trialNumber,
        attempt: number,
        reason,
        delaySeconds,
      });
      // What was begun goes before what was not, once its time has come.
      waiting.unshift({ trial: backingOff, notBefore: world.now().getTime() + next.delayMs });
      return;
    }
    const executed = trialExecuted(after, number, classification);
    await world.store(executed);
    executedTrials.push(executed);
  }

  async function scoreTrial(executed: TrialRecord): Promise<void> {
    const score = await world.score(executed);
    const scored = trialScored(executed, score);
    await world.store(scored);
    world.onEvent({
      kind: 'trial-ended',
      scenarioId: scored.scenarioId,
      trialNumber: scored.trialNumber,
      outcome: score.outcome,
      score: scored.score,
      reason: scored.reason,
    });
  }

  function start(work: Promise<void>): void {
    const task = work.catch(fail).finally(() => {
      tasks.delete(task);
      wake();
    });
    tasks.add(task);
  }

  /** Starts what may start now; gives the time of the next trial in back-off, or null. */
  function fill(): number | null {
    const now = world.now().getTime();
    while (running < options.parallelism && stop === null) {
      const index = waiting.findIndex((entry) => entry.notBefore <= now);
      const [entry] = index < 0 ? [] : waiting.splice(index, 1);
      if (entry === undefined) break;
      running += 1;
      start(
        attempt(entry.trial).finally(() => {
          running -= 1;
        }),
      );
    }
    // What was executed is graded also after a stop, unless the machine itself is at fault.
    while (scoring < options.scoringParallelism && stop?.kind !== 'fault') {
      const executed = executedTrials.shift();
      if (executed === undefined) break;
      scoring += 1;
      start(
        scoreTrial(executed).finally(() => {
          scoring -= 1;
        }),
      );
    }
    return waiting.length === 0 || stop !== null
      ? null
      : Math.min(...waiting.map((entry) => entry.notBefore));
  }

  const onInterrupt = (): void => {
    stop ??= { kind: 'interrupted' };
    wake();
  };
  options.signal.addEventListener('abort', onInterrupt);
  if (options.signal.aborted) onInterrupt();
  try {
    for (;;) {
      const trip: BreakerTrip | null = stop === null ? tripped(ended, options.parallelism) : null;
      if (trip !== null) {
        stop = {
          kind: 'breaker',
          reason: `the last ${trip.attempts} attempts all ended with ${trip.class} failure ${trip.reason}; no further attempt is started`,
        };
      }
      const nextTime = fill();
      if (tasks.size === 0 && nextTime === null) return stop;
      await new Promise<void>((resolve) => {
        const timer = new AbortController();
        wake = () => {
          timer.abort();
          resolve();
        };
        if (nextTime !== null && running < options.parallelism) {
          const milliseconds = Math.max(1, nextTime - world.now().getTime());
          delay(milliseconds, undefined, { signal: timer.signal }).then(resolve, () => undefined);
        }
      });
    }
  } finally {
    options.signal.removeEventListener('abort', onInterrupt);
  }
}

/** What people are told about an early stop. */
export function describeStop(stop: EarlyStop): string {
  switch (stop.kind) {
    case 'interrupted':
      return 'interrupted';
    case 'breaker':
      return stop.reason;
    case 'fault':
      return stop.error instanceof InfrastructureError
        ? `${stop.error.reason}: ${stop.error.message}`
        : messageOf(stop.error);
  }
}
