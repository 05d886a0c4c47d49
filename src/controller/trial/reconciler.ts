import type { ReconcileContext, ReconcileResult } from '../../kube/controller.ts';
import { isConflict, isNotFound } from '../../kube/errors.ts';
import { EVENTS, PODS, TRIALS, typed } from '../../kube/resource.ts';
import { podsOfTrial, runOfTrial, statusOf, type TrialObject } from '../cache.ts';
import type { Deps } from '../deps.ts';
import { abortOf } from '../run/abort.ts';
import { conditionOf, type RunView } from '../run-view.ts';
import { writeStatus } from '../status-patch.ts';
import { suiteOf, timeoutsOf } from '../suite-view.ts';
import { TELLING_EVENTS, type PodEvent } from './clocks.ts';
import { hasStarted, type PodFacts } from './pod-facts.ts';
import { planTrial, type PodDeletion, type RunFacts, type TrialObservation, type TrialPlan } from './plan.ts';
import { openAttempt } from './transitions.ts';

export const TRIAL_OBJECTS = typed<TrialObject>(TRIALS);

/** While the cache is behind what we wrote or read: a watch brings it soon, this is for when it does not. */
const CACHE_PATIENCE_SECONDS = 2;
/** A pod that does not start is asked about no more often. */
const ASK_EVENTS_MS = 15_000;

/** Makes the pass over one Trial: observe, plan, write. */
export function createTrialReconciler(deps: Deps) {
  const asked = new Map<string, { readonly at: number; readonly event: PodEvent | null }>();

  return async function reconcile(
    key: string,
    context: ReconcileContext,
  ): Promise<ReconcileResult | undefined> {
    const { cache, memory } = deps;
    const trial = cache.trials.get(key);
    if (trial === undefined) {
      memory.forget(key, undefined);
      return undefined;
    }
    const { uid, resourceVersion } = trial.metadata;
    if (memory.isBehind(uid, resourceVersion)) return { requeueAfterSeconds: CACHE_PATIENCE_SECONDS };
    const observation = await observe(trial, key, context);
    const options = {
      now: deps.clock.date().getTime(),
      random: deps.random,
      gracePeriodSeconds: deps.config.gracePeriodSeconds,
      queuedWriteSeconds: deps.config.queuedWriteSeconds,
    };
    let plan = planTrial(observation, options);
    if (plan.confirm) {
      const gone = await confirmGone(trial, observation, context.signal);
      if (!gone) return { requeueAfterSeconds: CACHE_PATIENCE_SECONDS };
      plan = planTrial({ ...observation, confirmedGone: true }, options);
    }
    return apply(trial, plan, context);
  };

  async function observe(
    trial: TrialObject,
    key: string,
    { signal }: ReconcileContext,
  ): Promise<TrialObservation> {
    const { cache, memory } = deps;
    const status = statusOf(trial);
    memory.forgetVanished(key, endedPods(status.attempts));
    const run = runOfTrial(cache, trial);
    const pods = podsOfTrial(cache, trial);
    return {
      name: trial.metadata.name,
      status,
      run: run === undefined || trial.metadata.deletionTimestamp !== undefined ? null : runFacts(run, trial),
      pods,
      vanished: memory.vanished(key),
      confirmedGone: false,
      podEvent: await podEvent(trial, pods, signal),
    };
  }

  function runFacts(run: RunView, trial: TrialObject): RunFacts {
    const now = deps.clock.date().getTime();
    const abort = abortOf(run, now, deps.config.breaker.failAfterSeconds);
    return {
      retry: run.spec.retry,
      timeouts: statusOf(trial).timeouts ?? timeoutsOf(run, suiteOf(deps.cache, run), trial.spec.scenarioId),
      abort: abort?.reason ?? null,
      gatewayDown: conditionOf(run, 'GatewayReady')?.status === 'False',
    };
  }

  /** Whether the open attempt's pod is gone, by the API server itself, and the Trial is as we know it. */
  async function confirmGone(
    trial: TrialObject,
    { status }: TrialObservation,
    signal: AbortSignal,
  ): Promise<boolean> {
    const open = openAttempt(status);
    if (open === undefined) return false;
    const { namespace } = trial.metadata;
    const pod = await deps.client.find(PODS, { namespace, name: open.podName }, { signal });
    if (pod !== null && pod.metadata.uid === open.podUID) return false;
    const live = await deps.client.find(TRIAL_OBJECTS, trial.metadata, { signal });
    return live?.metadata.resourceVersion === trial.metadata.resourceVersion;
  }

  /** Events of a pod that takes long to start: a container's state never tells of a volume. */
  async function podEvent(
    trial: TrialObject,
    pods: readonly PodFacts[],
    signal: AbortSignal,
  ): Promise<PodEvent | null> {
    const now = deps.clock.date().getTime();
    const pod = pods.find(
      (candidate) =>
        candidate.phase === 'Pending' &&
        candidate.scheduling.state === 'scheduled' &&
        !hasStarted(candidate) &&
        now - candidate.scheduling.at > deps.config.queuedWriteSeconds * 1000,
    );
    if (pod === undefined) return null;
    const known = asked.get(pod.uid);
    if (known !== undefined && now - known.at < ASK_EVENTS_MS) return known.event;
    if (asked.size > 1000) asked.clear();
    const { namespace } = trial.metadata;
    const list = await deps.client.list(EVENTS, {
      namespace,
      fieldSelector: `regarding.uid=${pod.uid}`,
      limit: 100,
      signal,
    });
    const last = list.items.findLast(({ reason }) => TELLING_EVENTS.has(reason ?? ''));
    const event = last === undefined ? null : { reason: last.reason ?? '', message: last.note ?? '' };
    asked.set(pod.uid, { at: now, event });
    return event;
  }

  async function apply(
    trial: TrialObject,
    plan: TrialPlan,
    { signal, reconcileId }: ReconcileContext,
  ): Promise<ReconcileResult | undefined> {
    const { client, memory, cache } = deps;
    const fields = { reconcileID: reconcileId, run: trial.spec.runName, trial: trial.metadata.name };
    for (const deletion of plan.deletions) {
      await deletePod(trial, deletion, signal);
      deps.log.info({ ...fields, pod: deletion.name, grace: deletion.gracePeriodSeconds }, 'pod deleted');
    }
    if (plan.status !== null) {
      try {
        const written = await writeStatus(client, TRIAL_OBJECTS, trial, plan.status, signal);
        if (written !== null) memory.wroteOver(trial.metadata.uid, trial.metadata.resourceVersion);
      } catch (thrown) {
        if (isNotFound(thrown)) return undefined;
        // Somebody wrote in between: what they wrote is on its way to the cache, and is planned on then.
        if (isConflict(thrown)) return { requeueAfterSeconds: 0.2 };
        throw thrown;
      }
      const { phase, reason } = plan.status;
      deps.log.info({ ...fields, phase, reason }, 'trial status written');
      if (plan.endedAttempt !== null) {
        const run = runOfTrial(cache, trial);
        if (run !== undefined) deps.attemptEnded(run.object, trial.metadata.name, plan.endedAttempt);
        deps.record(trial, {
          type: plan.status.class === null && phase === 'Executed' ? 'Normal' : 'Warning',
          reason: `Attempt${phase}`,
          action: 'EndAttempt',
          note: `attempt ${plan.endedAttempt}: ${reason ?? 'ended in order'}`,
        });
      }
      deps.wakeScheduler();
    }
    const waitMs = plan.requeueAt === null ? null : plan.requeueAt - deps.clock.date().getTime();
    return waitMs === null ? undefined : { requeueAfterSeconds: Math.max(0.05, waitMs / 1000) };
  }

  async function deletePod(trial: TrialObject, deletion: PodDeletion, signal: AbortSignal): Promise<void> {
    const { namespace } = trial.metadata;
    const { name, uid, gracePeriodSeconds } = deletion;
    try {
      await deps.client.delete(PODS, { namespace, name }, { uid, gracePeriodSeconds, signal });
    } catch (thrown) {
      // Gone, or another pod of that name: either way not the one that was to go.
      if (!isNotFound(thrown) && !isConflict(thrown)) throw thrown;
    }
  }
}

function endedPods(attempts: readonly { readonly podUID: string; readonly endedAt: string | null }[]) {
  return new Set(attempts.filter(({ endedAt }) => endedAt !== null).map(({ podUID }) => podUID));
}
