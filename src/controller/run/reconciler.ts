import { OPERATOR_VERSION } from '../../api/version.ts';
import { InvalidInputError } from '../../api/errors.ts';
import type { ReconcileContext, ReconcileResult } from '../../kube/controller.ts';
import {
  isConflict,
  isForbidden,
  isNamespaceTerminating,
  isNotFound,
  NotOurChildError,
  TerminalError,
} from '../../kube/errors.ts';
import { keyOf } from '../../kube/object.ts';
import { readRun } from '../cache.ts';
import type { Claims } from '../claims.ts';
import type { Deps } from '../deps.ts';
import type { GatewayAccess } from '../gateway-access.ts';
import type { EndedAttempts } from '../gateway-control.ts';
import type { ModelPreflight } from '../model-preflight.ts';
import { runtimeImage } from '../objects/context.ts';
import { holds, isReadable, type RunView } from '../run-view.ts';
import { hasEnded } from '../trial/transitions.ts';
import { abortOf } from './abort.ts';
import { stall } from './breaker.ts';
import { MODEL_ANSWERED } from './gateway.ts';
import { ChildRefusedError, RunWriter } from './apply.ts';
import type { MissingReference, RunObservation } from './observation.ts';
import { observeCache } from './observe.ts';
import { PlanDraft, type RunPlan } from './plan-draft.ts';
import { planRun } from './plan.ts';
import { phaseOf, reasonOf } from './summary.ts';
import { findMissing } from './references.ts';

/** Between two writes of one run's status: it changes with every trial, and people read it at their own pace. */
const STATUS_EVERY_MS = 1000;
/** While the cache is behind what we wrote: a watch brings it soon, this is for when it does not. */
const CACHE_PATIENCE_SECONDS = 2;
/** After how long a write that a quota or a policy refused is tried again. */
const REFUSED_AGAIN_SECONDS = 5;

export interface RunDeps extends Deps {
  readonly claims: Claims;
  readonly gateways: GatewayAccess;
  readonly models: ModelPreflight;
  readonly endings: EndedAttempts;
  /** Why the API server refuses pods of a run; null where it does not. */
  readonly refusalOf: (runUid: string) => string | null;
}

/** Makes the pass over one run: observe, plan, write; the status last, at most once a second. */
export function createRunReconciler(deps: RunDeps) {
  const writer = new RunWriter(deps);
  const written = new Map<string, { at: number; over: string }>();
  const uids = new Map<string, string>();

  return async function reconcile(
    key: string,
    context: ReconcileContext,
  ): Promise<ReconcileResult | undefined> {
    const { signal } = context;
    const object = deps.cache.runs.get(key);
    if (object === undefined || uids.get(key) !== object.metadata.uid) forget(key);
    if (object === undefined) return undefined;
    uids.set(key, object.metadata.uid);
    const run = readRun(object);
    if (!isReadable(run)) throw new TerminalError(`BenchmarkRun ${key} cannot be read: ${run.problem}`);
    const last = written.get(run.uid);
    if (last?.over === object.metadata.resourceVersion)
      return { requeueAfterSeconds: CACHE_PATIENCE_SECONDS };

    tellGateway(run);
    const now = deps.clock.date().getTime();
    const observation = await observe(run, signal);
    const plan = planRun(observation, {
      now,
      operatorVersion: OPERATOR_VERSION,
      operatorImage: deps.config.operatorImage,
      runtimeImage: observation.invalid === null ? runtimeImage(run, deps.config) : '',
      preflight: deps.config.preflight,
      breaker: deps.config.breaker,
      failedPodsKept: deps.config.failedPodsKept,
      finalizerSeconds: deps.config.finalizerSeconds,
    });
    if (abortOf(run, now, deps.config.breaker.failAfterSeconds) !== null) wakeOpenTrials(run, observation);
    try {
      await writer.apply(run, plan, observation.claim, signal);
      // The finalizer changes the run itself: its status is planned on the state that then comes.
      if (plan.finalizer !== null) return { requeueAfterSeconds: CACHE_PATIENCE_SECONDS };
      return await writeStatus(run, plan, now, context);
    } catch (thrown) {
      if (isNotFound(thrown)) return { requeueAfterSeconds: 1 };
      if (isConflict(thrown)) return { requeueAfterSeconds: 0.2 };
      // A quota, or a policy of the namespace: somebody may change it, so the run waits and says for what.
      if (isForbidden(thrown) && !isNamespaceTerminating(thrown))
        return await waitOn(run, 'PodsRefused', thrown.message, now, context);
      const refusal = refusalIn(thrown);
      if (refusal === null) throw thrown;
      return await fail(run, refusal.reason, refusal.message, now, context);
    }
  };

  /** What a gateway could not be told before, it is told now; with the run's end all that was said of it is over. */
  function tellGateway(run: RunView): void {
    if (holds(run, 'Complete') || holds(run, 'Failed')) {
      deps.endings.forget(run.uid);
      deps.models.forget(run.uid);
    } else {
      deps.endings.retry(run);
    }
  }

  /** Trials see for themselves why they have to end; that they should look is all they are told. */
  function wakeOpenTrials({ namespace }: RunView, { trials }: RunObservation): void {
    const open = trials.filter(({ status }) => !hasEnded(status));
    deps.wakeTrials(open.map(({ name }) => keyOf({ namespace, name })));
  }

  function forget(key: string): void {
    const uid = uids.get(key);
    if (uid === undefined) return;
    uids.delete(key);
    written.delete(uid);
    writer.forget(uid);
    deps.claims.forget(uid);
    deps.gateways.forget(uid);
    deps.models.forget(uid);
    deps.endings.forget(uid);
  }

  async function observe(run: RunView, signal: AbortSignal): Promise<RunObservation> {
    const seen = observeCache(deps.cache, run, deps.config);
    const settled = holds(run, 'SuiteFrozen') || holds(run, 'Failed');
    const deleting = run.object.metadata.deletionTimestamp !== undefined;
    const missing: readonly MissingReference[] =
      settled || deleting || seen.invalid !== null
        ? []
        : await findMissing(deps.client, run, deps.config.defaultStorage.storageClassName, signal);
    return {
      ...seen,
      missing,
      claim: await deps.claims.of(run, signal),
      modelAnswer: mayAskModel(run, seen, deps.config.preflight.enabled) ? deps.models.answerOf(run) : null,
      createdTrials: writer.createdTrials(run.uid, new Set(seen.trials.map(({ name }) => name))),
      podRefusal: deps.refusalOf(run.uid),
    };
  }

  async function writeStatus(
    run: RunView,
    plan: RunPlan,
    now: number,
    { signal, reconcileId }: ReconcileContext,
  ): Promise<ReconcileResult | undefined> {
    const wakeMs = plan.requeueAt === null ? null : Math.max(50, plan.requeueAt - now);
    const sinceMs = now - (written.get(run.uid)?.at ?? -Infinity);
    if (sinceMs < STATUS_EVERY_MS) {
      const waitMs = Math.min(STATUS_EVERY_MS - sinceMs, wakeMs ?? Infinity);
      return { requeueAfterSeconds: waitMs / 1000 };
    }
    if (await writer.writeStatus(run, plan, signal)) {
      written.set(run.uid, { at: now, over: run.object.metadata.resourceVersion });
      const { phase, progress, reason } = plan.status;
      deps.log.info(
        { reconcileID: reconcileId, run: run.name, phase, progress, reason },
        'run status written',
      );
      for (const { type, reason: why, note } of plan.events) {
        deps.record(run.object, { type, reason: why, action: 'Reconcile', note });
      }
    }
    deps.wakeScheduler();
    return wakeMs === null ? undefined : { requeueAfterSeconds: wakeMs / 1000 };
  }

  /** Says what keeps a run from going on, and looks again soon. */
  async function waitOn(
    run: RunView,
    reason: string,
    message: string,
    now: number,
    context: ReconcileContext,
  ): Promise<ReconcileResult> {
    const draft = new PlanDraft(run, now);
    stall(draft, reason, message);
    draft.say({ observedGeneration: run.generation, phase: phaseOf(draft, 0), reason: reasonOf(draft) });
    await writeStatus(run, draft.done(), now, context);
    return { requeueAfterSeconds: REFUSED_AGAIN_SECONDS };
  }

  /** Ends a run for a cause that only writing showed. */
  async function fail(
    run: RunView,
    reason: string,
    message: string,
    now: number,
    context: ReconcileContext,
  ): Promise<ReconcileResult | undefined> {
    const draft = new PlanDraft(run, now);
    draft.fail(reason, message);
    draft.say({ observedGeneration: run.generation, phase: phaseOf(draft, 0), reason: reasonOf(draft) });
    return writeStatus(run, draft.done(), now, context);
  }
}

/** What of a failed write lies in the run itself, so that trying again cannot help. */
function refusalIn(thrown: unknown): { readonly reason: string; readonly message: string } | null {
  if (thrown instanceof InvalidInputError) return { reason: 'InvalidSpec', message: thrown.message };
  if (thrown instanceof NotOurChildError) return { reason: 'NameTaken', message: thrown.message };
  if (thrown instanceof ChildRefusedError) return { reason: 'InvalidSpec', message: thrown.message };
  return null;
}

/** The model is asked once, through a gateway that is there. */
function mayAskModel(
  run: RunView,
  { gateway, needsGateway }: Pick<RunObservation, 'gateway' | 'needsGateway'>,
  enabled: boolean,
): boolean {
  const open = !holds(run, 'Failed') && run.status.provenance?.[MODEL_ANSWERED] === undefined;
  return enabled && needsGateway && gateway?.ready === true && open;
}
