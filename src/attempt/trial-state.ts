import type { AttemptResult } from '../api/attempt.ts';
import { podName, trialName } from '../api/names.ts';
import type { RunRecord } from '../api/run.ts';
import type { ScoreRecord } from '../api/score.ts';
import type { SuiteIndexEntry } from '../api/suite-index.ts';
import type { ResolvedTimeouts } from '../api/timeouts.ts';
import type { TrialAttempt, TrialRecord } from '../api/trial.ts';
import type { Classification } from './failure-class.ts';

/*
 * Transitions of a trial's record. Each is pure: record in, record out. The record is written before an attempt
 * starts and after it ended, so that whatever interrupts the run, the next invocation knows what was begun.
 */

/** What a trial says of itself while no attempt stands for it. */
export const UNDECIDED = {
  decidedBy: null,
  execution: null,
  class: null,
  outcome: null,
  score: null,
  reason: null,
} as const;

/** A trial that nothing was done for yet. `trialNumber` is 1-based. */
export function newTrial(
  run: Pick<RunRecord, 'name' | 'uid'>,
  scenario: SuiteIndexEntry,
  trialNumber: number,
  timeouts: ResolvedTimeouts,
): TrialRecord {
  return {
    schema_version: 1,
    name: trialName(run.name, run.uid, scenario.id, trialNumber),
    runName: run.name,
    scenarioId: scenario.id,
    trialNumber,
    dimension: scenario.dimension,
    scenarioDigest: scenario.digest,
    phase: 'Pending',
    timeouts,
    attempts: [],
    rerunRevision: null,
    ...UNDECIDED,
  };
}

/** A scenario needs a surface that the runtime lacks: the trial stands outside all denominators. */
export function unsupportedTrial(trial: TrialRecord, missing: readonly string[]): TrialRecord {
  return {
    ...trial,
    phase: 'Scored',
    outcome: 'unsupported',
    reason: `the runtime has no ${missing.join(', ')}`,
  };
}

/** Number that the next attempt of a trial gets; numbers are never used twice. */
export function nextAttemptNumber(trial: Pick<TrialRecord, 'attempts'>): number {
  return Math.max(0, ...trial.attempts.map((attempt) => attempt.number)) + 1;
}

/** An attempt that has begun and of whose end nothing is known. */
export function openAttemptOf(
  begun: Pick<TrialAttempt, 'number' | 'podName' | 'podUID' | 'startedAt' | 'rerunRevision'>,
): TrialAttempt {
  return {
    ...begun,
    endedAt: null,
    class: null,
    reason: null,
    killReason: null,
    counted: true,
    runtimeMs: null,
    wallClockMs: null,
    artifacts: null,
  };
}

/** The attempt is recorded before anything of it exists. `podUID` names this execution. */
export function attemptStarted(
  trial: TrialRecord,
  podUID: string,
  startedAt: string,
): { trial: TrialRecord; attempt: TrialAttempt } {
  const number = nextAttemptNumber(trial);
  const attempt = openAttemptOf({
    number,
    podName: podName(trial.name, number),
    podUID,
    startedAt,
    rerunRevision: trial.rerunRevision,
  });
  return { trial: { ...trial, phase: 'Running', attempts: [...trial.attempts, attempt] }, attempt };
}

/** What an ended attempt left on the disk. */
export interface CollectedArtifacts {
  readonly path: string;
  readonly files: number;
  readonly bytes: number;
}

/** The attempt's result is in and classified; whether another follows is decided elsewhere. */
export function attemptEnded(
  trial: TrialRecord,
  result: AttemptResult,
  classification: Classification,
  artifacts: CollectedArtifacts | null,
): TrialRecord {
  return withAttempt(trial, result.attempt, (attempt) => ({
    ...attempt,
    endedAt: result.endedAt,
    class: classification.class,
    reason: classification.reason,
    killReason: result.killReason,
    counted: classification.counted,
    runtimeMs: result.runtimeMs,
    wallClockMs: result.wallClockMs,
    artifacts:
      artifacts === null
        ? null
        : { ...artifacts, digest: result.manifestDigest ?? '', collected: result.collected },
  }));
}

/** The program ended under the attempt: nobody's fault, not counted, the next number is used. */
export function attemptLost(trial: TrialRecord, number: number, endedAt: string): TrialRecord {
  const ended = withAttempt(trial, number, (attempt) => ({
    ...attempt,
    endedAt,
    class: 'infrastructure',
    reason: 'Interrupted',
    killReason: 'interrupted',
    counted: false,
  }));
  return { ...ended, phase: 'Pending' };
}

/** The trial waits before its next attempt. */
export function trialBackingOff(trial: TrialRecord, reason: string): TrialRecord {
  return { ...trial, phase: 'Backoff', reason };
}

/** No further attempt: attempt `number` stands for the trial. Scoring follows. */
export function trialExecuted(
  trial: TrialRecord,
  number: number,
  classification: Classification,
): TrialRecord {
  return {
    ...trial,
    phase: 'Executed',
    decidedBy: number,
    execution: classification.execution,
    class: classification.class,
    reason: classification.reason,
  };
}

/** The trial's score record is on disk. */
export function trialScored(trial: TrialRecord, score: ScoreRecord): TrialRecord {
  return {
    ...trial,
    phase: 'Scored',
    class: score.class,
    outcome: score.outcome,
    score: score.score?.score ?? null,
    reason: score.error === null ? trial.reason : score.error.reason,
  };
}

/** A new base attempt was asked for: earlier attempts and scores are kept, the trial is open again. */
export function trialReopened(trial: TrialRecord, rerunRevision: number): TrialRecord {
  return {
    ...trial,
    rerunRevision,
    phase: 'Pending',
    ...UNDECIDED,
  };
}

function withAttempt(
  trial: TrialRecord,
  number: number,
  change: (attempt: TrialAttempt) => TrialAttempt,
): TrialRecord {
  return {
    ...trial,
    attempts: trial.attempts.map((attempt) => (attempt.number === number ? change(attempt) : attempt)),
  };
}
