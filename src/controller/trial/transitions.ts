import type { HarnessReport } from '../../api/harness-report.ts';
import { runLayout } from '../../api/run-layout.ts';
import type { ResolvedTimeouts } from '../../api/timeouts.ts';
import type { TrialStatus } from '../../api/trial-resource.ts';
import type { TrialAttempt } from '../../api/trial.ts';
import type { Classification } from '../../attempt/failure-class.ts';
import { openAttemptOf, UNDECIDED } from '../../attempt/trial-state.ts';
import type { PodFacts } from './pod-facts.ts';

/*
 * Transitions of a Trial's status in a cluster. Each is pure: status in, status out. What a trial says on one machine
 * (src/attempt/trial-state.ts) and here is the same; here there is no result file to read, only what a pod reports.
 */

/** Longest `reason` of a Trial. */
const REASON_LENGTH = 1024;

/** What a trial says of itself while no attempt stands for it. */
const UNDECIDED_IN_CLUSTER = { ...UNDECIDED, scoredRevision: null, usage: null, notBefore: null } as const;

/** The attempt that has begun and not ended, or undefined. */
export function openAttempt(status: Pick<TrialStatus, 'attempts'>): TrialAttempt | undefined {
  return status.attempts.find(({ endedAt }) => endedAt === null);
}

/** The pod of an attempt is there: from here on the attempt is bound to its UID. */
export function begun(status: TrialStatus, pod: PodFacts, timeouts: ResolvedTimeouts): TrialStatus {
  if (status.attempts.some(({ number }) => number === pod.attempt)) return status;
  const attempt = openAttemptOf({
    number: pod.attempt,
    podName: pod.name,
    podUID: pod.uid,
    startedAt: new Date(pod.createdAt).toISOString(),
    rerunRevision: status.rerunRevision,
  });
  return { ...status, timeouts, notBefore: null, attempts: [...status.attempts, attempt] };
}

/** The attempt has begun and is where `phase` says; `reason` is what it waits for. */
export function waiting(
  status: TrialStatus,
  phase: 'Queued' | 'Starting' | 'Running',
  reason: string | null,
): TrialStatus {
  return { ...status, phase, reason: cut(reason) };
}

/** The attempt is over and classified; what follows is decided elsewhere. `endedAt` is ISO 8601. */
export function ended(
  status: TrialStatus,
  trial: string,
  number: number,
  { report, classification, endedAt }: AttemptEnd,
): TrialStatus {
  const result = report?.result ?? null;
  const kept = result?.artifacts ?? null;
  const artifacts =
    result === null || kept === null
      ? null
      : {
          path: runLayout('').trial(trial).attempt(number).root,
          digest: result.manifestDigest ?? '',
          files: kept.files,
          bytes: kept.bytes,
          collected: result.collected,
        };
  return {
    ...status,
    usage: result?.usage ?? null,
    attempts: status.attempts.map((attempt) =>
      attempt.number === number
        ? {
            ...attempt,
            endedAt,
            class: classification.class,
            reason: classification.reason,
            killReason: result?.killReason ?? null,
            counted: classification.counted,
            runtimeMs: result?.runtimeMs ?? null,
            wallClockMs: result?.wallClockMs ?? null,
            artifacts,
          }
        : attempt,
    ),
  };
}

export interface AttemptEnd {
  readonly report: HarnessReport | null;
  readonly classification: Classification;
  readonly endedAt: string;
}

/** Another attempt follows, not before the given moment. */
export function backingOff(status: TrialStatus, reason: string, notBefore: string): TrialStatus {
  return { ...status, phase: 'Backoff', reason: cut(reason), notBefore };
}

/** No further attempt: attempt `number` stands for the trial. A score round follows. */
export function executed(
  status: TrialStatus,
  number: number,
  classification: Classification,
  detail: string | null,
): TrialStatus {
  return {
    ...status,
    phase: 'Executed',
    decidedBy: number,
    execution: classification.execution,
    class: classification.class,
    reason: cut(detail),
    notBefore: null,
  };
}

/** No further attempt, and none stands for the trial: it is outside all denominators. */
export function cancelled(status: TrialStatus, reason: string): TrialStatus {
  return { ...status, ...UNDECIDED_IN_CLUSTER, phase: 'Cancelled', reason: cut(reason) };
}

/** A scenario needs what the runtime lacks: outside all denominators. */
export function unsupported(status: TrialStatus, missing: readonly string[]): TrialStatus {
  return {
    ...status,
    phase: 'Scored',
    outcome: 'unsupported',
    reason: cut(`the runtime has no ${missing.join(', ')}`),
  };
}

/** Score rounds failed again and again: a scoring error, unless the attempt failed by itself. */
export function notScored(status: TrialStatus, revision: number, why: string): TrialStatus {
  return {
    ...status,
    phase: 'Scored',
    class: status.class === null || status.class === 'agent' ? 'scoring' : status.class,
    outcome: 'execution_failure',
    score: null,
    scoredRevision: revision,
    reason: cut(why),
  };
}

/** A new base attempt was asked for: earlier attempts are kept, the trial is open again. */
export function reopened(status: TrialStatus, rerunRevision: number): TrialStatus {
  return { ...status, ...UNDECIDED_IN_CLUSTER, rerunRevision, phase: 'Pending', reason: null };
}

/** A trial that needs no attempt any more; whether it needs a score is another question. */
export function hasEnded(status: Pick<TrialStatus, 'phase'>): boolean {
  return status.phase === 'Executed' || status.phase === 'Scored' || status.phase === 'Cancelled';
}

function cut(text: string | null): string | null {
  return text === null || text.length <= REASON_LENGTH ? text : `${text.slice(0, REASON_LENGTH - 1)}…`;
}
