import type { RetrySpec } from '../../api/benchmark-run.ts';
import type { ResolvedTimeouts } from '../../api/timeouts.ts';
import type { TrialStatus } from '../../api/trial-resource.ts';
import { classifyAttempt } from '../../attempt/failure-class.ts';
import { nextStep } from '../../attempt/retry.ts';
import { sameObstacle, standing, type PodEvent, type Standing } from './clocks.ts';
import { readHarnessReport } from './harness-report.ts';
import { isLive, type PodFacts } from './pod-facts.ts';
import { podSignals, type AttemptCircumstances } from './pod-signals.ts';
import {
  backingOff,
  begun,
  cancelled,
  ended,
  executed,
  hasEnded,
  openAttempt,
  waiting,
} from './transitions.ts';

/** What of a run its trials depend on. */
export interface RunFacts {
  readonly retry: RetrySpec;
  readonly timeouts: ResolvedTimeouts;
  /** Why no trial of the run may go on, e.g. `Cancelled`; null while they may. */
  readonly abort: string | null;
  readonly gatewayDown: boolean;
}

/** Everything a plan for one Trial is made from. Times are milliseconds since the epoch. */
export interface TrialObservation {
  readonly name: string;
  readonly status: TrialStatus;
  /** Null: the run is gone, and what it owned goes with it. */
  readonly run: RunFacts | null;
  /** Pods in the cache that this very Trial (UID) owns. */
  readonly pods: readonly PodFacts[];
  /** Last state of pods of this Trial that the cache saw vanish. */
  readonly vanished: readonly PodFacts[];
  /** A live read of the API server said: the open attempt's pod is not there, and the Trial is as the cache has it. */
  readonly confirmedGone: boolean;
  /** Volume trouble of the pod that starts, by the API server's events. */
  readonly podEvent: PodEvent | null;
}

export interface PlanOptions {
  readonly now: number;
  /** In [0, 1): jitter of the back-off. */
  readonly random: () => number;
  /** Grace period of a deletion by which a harness still collects. */
  readonly gracePeriodSeconds: number;
  /** Queued and Starting are written only when they last longer than this. */
  readonly queuedWriteSeconds: number;
}

export interface PodDeletion {
  readonly name: string;
  readonly uid: string;
  /** 0: the node does not answer, the object is removed without it. */
  readonly gracePeriodSeconds: number;
}

/** What to write for one Trial. An empty plan means that everything is as it should be. */
export interface TrialPlan {
  /** The status that the Trial should have; null: as it is. */
  readonly status: TrialStatus | null;
  readonly deletions: readonly PodDeletion[];
  /** The open attempt's pod is not in the cache: ask the API server, then plan again. */
  readonly confirm: boolean;
  /** Attempt that this plan ends, for those who keep something for it. */
  readonly endedAttempt: number | null;
  /** When to look again although nothing changed; null: no need. */
  readonly requeueAt: number | null;
}

/** After the grace period of a deletion: how long the kubelet may take to say that the pod is gone. */
const TERMINATING_SLACK_MS = 60_000;

const NOTHING: TrialPlan = {
  status: null,
  deletions: [],
  confirm: false,
  endedAttempt: null,
  requeueAt: null,
};

/**
 * Decides what one Trial needs now. Pods are started elsewhere (src/controller/schedule), because which trial may
 * start is a question of all runs; everything that follows is decided here.
 */
export function planTrial(observation: TrialObservation, options: PlanOptions): TrialPlan {
  const { run, status, pods } = observation;
  if (run === null) return NOTHING;
  const current = currentPod(observation);
  const deletions = leftovers(observation, current, options);
  const after = (plan: TrialPlan): TrialPlan => ({ ...plan, deletions: [...deletions, ...plan.deletions] });
  if (hasEnded(status)) return after(NOTHING);

  const open = openAttempt(status);
  if (current !== null) return after(planPod(observation, run, current, options));
  if (open !== undefined) {
    const last = observation.vanished.find(({ uid }) => uid === open.podUID) ?? null;
    if (last === null && !observation.confirmedGone) return after({ ...NOTHING, confirm: true });
    return after(endAttempt(observation, run, status, open.number, last, { lost: true }, options));
  }
  // A pod that came and went between two looks: the attempt was begun, so its number is used.
  const unrecorded = observation.vanished.find(({ attempt }) => isUnrecorded(status, attempt));
  if (unrecorded !== undefined) {
    const recorded = begun(status, unrecorded, run.timeouts);
    return after(
      endAttempt(observation, run, recorded, unrecorded.attempt, unrecorded, { lost: true }, options),
    );
  }
  if (run.abort !== null && !pods.some(isLive)) {
    return after({ ...NOTHING, status: cancelled(status, run.abort) });
  }
  return after(NOTHING);
}

/** The pod that the trial's open attempt is, or will be once it is written down. */
function currentPod({ status, pods }: TrialObservation): PodFacts | null {
  const open = openAttempt(status);
  if (open !== undefined) return pods.find(({ uid }) => uid === open.podUID) ?? null;
  if (hasEnded(status)) return null;
  const fresh = pods.filter(({ attempt }) => isUnrecorded(status, attempt));
  return fresh.sort((left, right) => left.createdAt - right.createdAt)[0] ?? null;
}

function isUnrecorded(status: TrialStatus, attempt: number): boolean {
  return attempt > 0 && !status.attempts.some(({ number }) => number === attempt);
}

/**
 * Pods that nothing is expected of any more. One that ended well goes once its end is written and read back; one that
 * failed stays for a look at it, as many as the run keeps, unless something in it still runs; a second pod beside the
 * current one, and one that another UID has taken the attempt from, is nobody's.
 */
function leftovers(
  { status, pods }: TrialObservation,
  current: PodFacts | null,
  options: PlanOptions,
): PodDeletion[] {
  return pods.flatMap((pod) => {
    if (pod === current) return [];
    const attempt = status.attempts.find(({ podUID }) => podUID === pod.uid);
    const kept = typeof attempt?.endedAt === 'string' && attempt.class !== null && !isLive(pod);
    return kept ? [] : deletion(pod, options);
  });
}

/** Deletes a pod; one whose node does not answer is removed by force once its grace period has long passed. */
function deletion(pod: PodFacts, { now, gracePeriodSeconds }: PlanOptions): PodDeletion[] {
  const { name, uid, deletedBy } = pod;
  if (deletedBy === null) return [{ name, uid, gracePeriodSeconds }];
  return now > deletedBy + TERMINATING_SLACK_MS ? [{ name, uid, gracePeriodSeconds: 0 }] : [];
}

function planPod(
  observation: TrialObservation,
  run: RunFacts,
  pod: PodFacts,
  options: PlanOptions,
): TrialPlan {
  const { now } = options;
  const recorded = begun(observation.status, pod, run.timeouts);
  if (pod.harness.state === 'terminated' || !isLive(pod)) {
    return endAttempt(observation, run, recorded, pod.attempt, pod, {}, options);
  }
  const stand = standing(pod, run.timeouts, observation.podEvent);
  if (pod.deletedBy !== null || pod.restarted || run.abort !== null) {
    // It ends, or is to end: what it says at its end, or its disappearance, decides.
    return {
      ...NOTHING,
      // Whatever becomes of the pod and of us: that the attempt was begun stands written first.
      status: recorded === observation.status ? null : waiting(recorded, 'Starting', 'the pod is ending'),
      deletions: deletion(pod, options),
      requeueAt: (pod.deletedBy ?? now + options.gracePeriodSeconds * 1000) + TERMINATING_SLACK_MS + 1000,
    };
  }
  if (now >= stand.deadline) {
    if (stand.stage === 'running') return { ...NOTHING, deletions: deletion(pod, options) };
    const bound = stand.stage === 'queued' ? 'queued' : 'start';
    const { obstacle, waitsFor } = stand;
    return endAttempt(observation, run, recorded, pod.attempt, pod, { bound, obstacle, waitsFor }, options);
  }
  return showStanding(observation.status, recorded, stand, options);
}

function showStanding(
  status: TrialStatus,
  recorded: TrialStatus,
  stand: Standing,
  { now, queuedWriteSeconds }: PlanOptions,
): TrialPlan {
  if (stand.stage === 'running') {
    const shown = status.phase === 'Running' && recorded === status;
    return {
      ...NOTHING,
      status: shown ? null : waiting(recorded, 'Running', null),
      requeueAt: stand.deadline,
    };
  }
  const phase = stand.stage === 'queued' ? 'Queued' : 'Starting';
  const visibleAt = stand.since + queuedWriteSeconds * 1000;
  if (now < visibleAt) return { ...NOTHING, requeueAt: Math.min(visibleAt, stand.deadline) };
  const told = status.phase === phase && sameObstacle(status.reason ?? '', stand.waitsFor);
  return {
    ...NOTHING,
    status: told ? null : waiting(recorded, phase, stand.waitsFor),
    requeueAt: stand.deadline,
  };
}

/** Classifies the end of an attempt and says what follows. `status` has the attempt in it. */
function endAttempt(
  observation: TrialObservation,
  run: RunFacts,
  status: TrialStatus,
  number: number,
  pod: PodFacts | null,
  known: Partial<AttemptCircumstances> & { readonly waitsFor?: string },
  { now, random }: PlanOptions,
): TrialPlan {
  const read =
    pod === null ? { report: null, why: 'the pod is gone' } : readHarnessReport(observation.name, pod);
  const { report } = read;
  const interrupted = report?.result?.killReason === 'interrupted';
  // The kubelet, or we, ended it for a bound that the harness did not keep: there is no result to go by.
  const overdue = interrupted && pod !== null && isOverdue(pod, run, now);
  const circumstances: AttemptCircumstances = {
    lost: false,
    bound: overdue ? 'active' : null,
    obstacle: null,
    ...known,
    interrupted: interrupted && !overdue,
    cancelled: run.abort !== null,
    gatewayDown: run.gatewayDown,
  };
  const classification = classifyAttempt({
    result: overdue ? null : (report?.result ?? null),
    pod: podSignals(pod, circumstances),
  });
  const endedAt = report?.result?.endedAt ?? new Date(endOf(pod) ?? now).toISOString();
  const over = ended(status, observation.name, number, { report, classification, endedAt });
  const detail = detailOf(classification.reason, known.waitsFor, report?.fault ?? null, read, pod);
  const plan = { ...NOTHING, endedAttempt: number };
  const own = classification.class === null || classification.class === 'agent';
  // A result that is the agent's own counts, also where the run was cancelled while it was collected.
  if (run.abort !== null && !own) return { ...plan, status: cancelled(over, run.abort) };
  const next = nextStep(over.attempts, run.retry, random);
  switch (next.step) {
    case 'retry': {
      const notBefore = now + next.delayMs;
      return {
        ...plan,
        status: backingOff(over, detail ?? '', new Date(notBefore).toISOString()),
        requeueAt: notBefore,
      };
    }
    case 'accept':
    case 'give_up':
      return { ...plan, status: executed(over, number, classification, detail) };
  }
}

function isOverdue(pod: PodFacts, run: RunFacts, now: number): boolean {
  const stand = standing(pod, run.timeouts, null);
  return (
    pod.reason === 'DeadlineExceeded' || (stand.stage === 'running' && (endOf(pod) ?? now) >= stand.deadline)
  );
}

function endOf(pod: PodFacts | null): number | null {
  if (pod?.harness.state === 'terminated') return pod.harness.finishedAt;
  return null;
}

/** The reason, and the last thing that was said of it: a time-out must not hide its cause. */
function detailOf(
  reason: string | null,
  waitsFor: string | undefined,
  fault: { readonly reason: string; readonly message: string } | null,
  read: ReturnType<typeof readHarnessReport>,
  pod: PodFacts | null,
): string | null {
  if (reason === null) return null;
  if (read.report !== null && read.report.result !== null) return reason;
  const said =
    waitsFor ??
    (fault === null ? undefined : `${fault.reason}: ${fault.message}`) ??
    (pod !== null && pod.message !== '' ? pod.message : undefined) ??
    (read.report === null ? read.why : `the harness came to step ${read.report.step}`);
  return `${reason}: ${said}`;
}
