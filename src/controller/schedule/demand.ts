import { nextAttemptNumber } from '../../attempt/trial-state.ts';
import type { TrialStatus } from '../../api/trial-resource.ts';
import { RUN_FINALIZER } from '../../api/pod-contract.ts';
import { needsGateway } from '../objects/context.ts';
import { abortOf, rerunAsked } from '../run/abort.ts';
import { missingSurfaces } from '../run/expand.ts';
import type { SuiteView } from '../run/observation.ts';
import { conditionOf, holds, type RunView } from '../run-view.ts';
import { scenarioOf } from '../suite-view.ts';
import { isLive, type PodFacts } from '../trial/pod-facts.ts';
import { hasEnded, openAttempt } from '../trial/transitions.ts';
import type { Candidate, Demand } from './plan.ts';

/** A Trial and what is there of it. */
export interface TrialFacts {
  readonly key: string;
  readonly scenarioId: string;
  readonly trialNumber: number;
  readonly status: TrialStatus;
  readonly pods: readonly PodFacts[];
  /** A pod was created that the cache does not show, or vanished and is not written down: wait. */
  readonly unsettled: boolean;
}

export interface RunForSchedule {
  readonly run: RunView;
  readonly suite: SuiteView | null;
  readonly surfaces: readonly string[];
  readonly trials: readonly TrialFacts[];
}

export interface DemandOptions {
  readonly now: number;
  readonly failAfterSeconds: number;
  readonly probeEverySeconds: number;
  readonly preflight: boolean;
}

export interface DemandOf {
  readonly demand: Demand;
  /** When a back-off or a stalled run's wait ends; null where nothing waits for time. */
  readonly wakeAt: number | null;
}

/** What one run wants now. A run that may not start anything still tells its live pods. */
export function demandOf(facts: RunForSchedule, options: DemandOptions): DemandOf {
  const { run, trials } = facts;
  const live = trials.reduce(
    (sum, { pods, unsettled }) =>
      sum + pods.filter(isLive).length + (unsettled && !pods.some(isLive) ? 1 : 0),
    0,
  );
  const base = { runUid: run.uid, createdAt: Date.parse(run.createdAt), live };
  if (!mayStart(run, options)) return { demand: { ...base, limit: 0, candidates: [] }, wakeAt: null };

  const waits: number[] = [];
  let limit = run.spec.parallelism;
  if (holds(run, 'Stalled')) {
    // One attempt now and then, to see whether what was wrong still is.
    const nextProbe = lastActivity(run, trials) + options.probeEverySeconds * 1000;
    if (options.now < nextProbe) {
      waits.push(nextProbe);
      limit = 0;
    } else {
      limit = Math.min(1, limit);
    }
  }
  const ready: { readonly trial: TrialFacts; readonly backingOff: boolean }[] = [];
  for (const trial of trials) {
    if (!isStartable(trial, facts)) continue;
    const notBefore = trial.status.notBefore === null ? 0 : Date.parse(trial.status.notBefore);
    if (notBefore > options.now) waits.push(notBefore);
    else ready.push({ trial, backingOff: trial.status.phase === 'Backoff' });
  }
  const order = new Map(facts.suite?.scenarios.map(({ id }, position) => [id, position]));
  const position = ({ scenarioId }: TrialFacts) => order.get(scenarioId) ?? 0;
  ready.sort(
    (left, right) =>
      // What was begun is finished first; then every scenario's first trial, then every second one.
      Number(right.backingOff) - Number(left.backingOff) ||
      left.trial.trialNumber - right.trial.trialNumber ||
      position(left.trial) - position(right.trial),
  );
  const candidates: Candidate[] = ready.map(({ trial }) => ({
    key: trial.key,
    attempt: nextAttemptNumber(trial.status),
  }));
  return {
    demand: { ...base, limit, candidates },
    wakeAt: waits.length === 0 ? null : Math.min(...waits),
  };
}

/** Whether a run has come so far that trials may start, and nothing holds it. */
export function mayStart(
  run: RunView,
  options: Pick<DemandOptions, 'now' | 'failAfterSeconds' | 'preflight'>,
): boolean {
  return (
    holds(run, 'SuiteFrozen') &&
    run.object.metadata.finalizers?.includes(RUN_FINALIZER) === true &&
    (!options.preflight || run.status.provenance?.['runtimeImageDigest'] !== undefined) &&
    (!needsGateway(run) || holds(run, 'GatewayReady')) &&
    !holds(run, 'Complete') &&
    !holds(run, 'Failed') &&
    !run.spec.suspend &&
    !rerunAsked(run) &&
    abortOf(run, options.now, options.failAfterSeconds) === null
  );
}

function isStartable({ status, pods, unsettled, scenarioId }: TrialFacts, facts: RunForSchedule): boolean {
  if (hasEnded(status) || openAttempt(status) !== undefined || unsettled) return false;
  // A live pod of an earlier attempt, or one that is not written down yet: two must never overlap.
  if (pods.some((pod) => isLive(pod) || !status.attempts.some(({ podUID }) => podUID === pod.uid)))
    return false;
  const scenario = facts.suite === null ? undefined : scenarioOf(facts.suite, scenarioId);
  return scenario !== undefined && missingSurfaces(scenario.surfaces, facts.surfaces).length === 0;
}

function lastActivity(run: RunView, trials: readonly TrialFacts[]): number {
  const stalledAt = Date.parse(conditionOf(run, 'Stalled')?.lastTransitionTime ?? run.createdAt);
  let last = stalledAt;
  for (const { status } of trials) {
    for (const { endedAt } of status.attempts) {
      if (endedAt !== null) last = Math.max(last, Date.parse(endedAt));
    }
  }
  return last;
}
