import { messageOf } from '../../api/errors.ts';
import { podName } from '../../api/names.ts';
import type { ReconcileContext, ReconcileResult } from '../../kube/controller.ts';
import { ensureChild } from '../../kube/ensure-child.ts';
import { isForbidden, isInvalid, isNotFound } from '../../kube/errors.ts';
import { keyOf } from '../../kube/object.ts';
import { PODS } from '../../kube/resource.ts';
import { podsOfTrial, readRun, runOfTrial, statusOf, type TrialObject } from '../cache.ts';
import type { Claims } from '../claims.ts';
import type { Deps } from '../deps.ts';
import type { GatewayAccess } from '../gateway-access.ts';
import { isReadable, type RunView } from '../run-view.ts';
import { isCoLocated } from '../run/setup.ts';
import { suiteOf, timeoutsOf } from '../suite-view.ts';
import { surfacesOf } from '../surfaces.ts';
import { TRIAL_OBJECTS } from '../trial/reconciler.ts';
import { demandOf, type TrialFacts } from './demand.ts';
import { planStarts, type Candidate, type Demand } from './plan.ts';
import { eachBounded } from '../../api/each-bounded.ts';
import type { InFlight } from './in-flight.ts';

/** The one key of the scheduler's queue: it always looks at all runs. */
export const SCHEDULER_KEY = 'all';

/** Pods created at once: more is no faster and makes everything else wait. */
const CONCURRENCY = 8;
/** Events come in floods; a pass looks at every Trial. */
const PAUSE_SECONDS = 0.2;

export interface SchedulerDeps extends Deps {
  readonly claims: Claims;
  readonly gateways: GatewayAccess;
  readonly inFlight: InFlight;
  /** Remembers that the API server refuses pods of a run, or, with null, that it takes them. */
  readonly refused: (runUid: string, why: string | null) => void;
}

/** Makes the pass that starts trials. Nothing else in the controller creates a trial's pod. */
export function createScheduler(deps: SchedulerDeps) {
  return async function reconcile(
    _key: string,
    context: ReconcileContext,
  ): Promise<ReconcileResult | undefined> {
    const now = deps.clock.date().getTime();
    const { config } = deps;
    const options = {
      now,
      failAfterSeconds: config.breaker.failAfterSeconds,
      probeEverySeconds: config.breaker.probeEverySeconds,
      preflight: config.preflight.enabled,
    };
    const demands: Demand[] = [];
    let wakeAt: number | null = null;
    for (const object of deps.cache.runs.list()) {
      const run = readRun(object);
      if (!isReadable(run)) continue;
      const { demand, wakeAt: wake } = demandOf(
        {
          run,
          suite: suiteOf(deps.cache, run),
          surfaces: surfacesOf(run),
          trials: deps.cache.trials.byIndex('run', run.uid).map(factsOfTrial),
        },
        options,
      );
      demands.push(demand);
      if (wake !== null) wakeAt = wakeAt === null ? wake : Math.min(wakeAt, wake);
    }
    const starts = planStarts(demands, config.globalParallelism);
    const again = await eachBounded(starts, CONCURRENCY, (start) => startAttempt(start, context));
    if (again.some((outcome) => outcome === 'again')) return { requeueAfterSeconds: 1 };
    if (starts.length > 0) return { requeueAfterSeconds: PAUSE_SECONDS };
    return wakeAt === null
      ? undefined
      : { requeueAfterSeconds: Math.max(PAUSE_SECONDS, (wakeAt - now) / 1000) };
  };

  function factsOfTrial(trial: TrialObject): TrialFacts {
    const key = keyOf(trial.metadata);
    const status = statusOf(trial);
    const vanished = deps.memory.vanished(key);
    const recorded = new Set(status.attempts.filter(({ endedAt }) => endedAt !== null).map((a) => a.podUID));
    return {
      key,
      scenarioId: trial.spec.scenarioId,
      trialNumber: trial.spec.trialNumber,
      status,
      pods: podsOfTrial(deps.cache, trial),
      unsettled:
        deps.inFlight.has(trial.metadata.uid) ||
        deps.memory.isBehind(trial.metadata.uid, trial.metadata.resourceVersion) ||
        vanished.some(({ uid }) => !recorded.has(uid)),
    };
  }

  async function startAttempt(
    { key, attempt }: Candidate,
    { signal, reconcileId }: ReconcileContext,
  ): Promise<'started' | 'again'> {
    const trial = deps.cache.trials.get(key);
    const run = trial === undefined ? undefined : runOfTrial(deps.cache, trial);
    if (trial === undefined || run === undefined) return 'again';
    // A cache may be behind by a whole attempt, e.g. of a leader before us: the Trial itself says whether it is.
    const live = await deps.client.find(TRIAL_OBJECTS, trial.metadata, { signal });
    if (live?.metadata.resourceVersion !== trial.metadata.resourceVersion) return 'again';
    const claim = await deps.claims.of(run, signal);
    if (claim === null) return 'again';
    const name = podName(trial.metadata.name, attempt);
    const suite = suiteOf(deps.cache, run);
    const timeouts = timeoutsOf(run, suite, trial.spec.scenarioId);
    const gateway = await deps.gateways.forAttempt(run, trial.metadata.name, attempt, timeouts, signal);
    if (gateway === 'unknown') return 'again';
    try {
      const draft = deps.builders.trialPod({
        run,
        claim: { name: claim.name, coLocate: isCoLocated(claim) },
        trial: { name: trial.metadata.name, scenarioId: trial.spec.scenarioId },
        attempt,
        timeouts,
        gateway,
      });
      const { object, outcome } = await ensureChild(deps.client, PODS, run.object, draft, { signal });
      deps.inFlight.created(trial.metadata.uid, object.metadata.uid);
      deps.refused(run.uid, null);
      const fields = { reconcileID: reconcileId, run: run.name, trial: trial.metadata.name, pod: name };
      deps.log.info({ ...fields, outcome }, 'attempt started');
      return 'started';
    } catch (thrown) {
      if (isNotFound(thrown)) return 'again';
      // A quota or a policy, or a template that makes no pod: the run says so, and it is tried again slowly.
      if (!isForbidden(thrown) && !isInvalid(thrown)) throw thrown;
      refuse(run, messageOf(thrown));
      return 'again';
    }
  }

  function refuse(run: RunView, why: string): void {
    deps.refused(run.uid, why);
    deps.record(run.object, { type: 'Warning', reason: 'PodRefused', action: 'CreatePod', note: why });
  }
}
