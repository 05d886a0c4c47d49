import { hasEnded } from '../trial/transitions.ts';
import type { RunObservation, RunPlanOptions } from './observation.ts';
import type { PlanDraft } from './plan-draft.ts';

/** Key of provenance that says when the model answered before the first trial. */
export const MODEL_ANSWERED = 'modelAnsweredAt';

const LOOK_AGAIN_MS = 1000;

/** Why trials may not use the gateway now; `final`: no time mends it. */
interface Obstacle {
  readonly reason: string;
  readonly message: string;
  readonly final: boolean;
}

/**
 * The run's gateway, once the folder of its journal is on the volume, and one question to the model behind it. Returns
 * true when the run may go on to its trials; whether the gateway is there at the moment is condition GatewayReady, by
 * which trials are held back later.
 */
export function openGateway(observation: RunObservation, draft: PlanDraft, options: RunPlanOptions): boolean {
  const { needsGateway, gateway, trials } = observation;
  if (!needsGateway || (trials.length > 0 && trials.every(({ status }) => hasEnded(status)))) return true;
  if (gateway === null) draft.children.push({ kind: 'gateway' });
  const known = draft.status.provenance?.[MODEL_ANSWERED] !== undefined;
  const obstacle = obstacleOf(observation, known || !options.preflight.enabled);
  if (obstacle === null) {
    draft.set('GatewayReady', 'True', 'Available', '');
    if (!known && options.preflight.enabled) {
      const at = new Date(options.now).toISOString();
      draft.say({ provenance: { ...draft.status.provenance, [MODEL_ANSWERED]: at } });
    }
    return true;
  }
  const { reason, message, final } = obstacle;
  draft.set('GatewayReady', 'False', reason, message);
  if (final) {
    draft.fail(reason, `${message}; no trial was started`);
    return false;
  }
  draft.wakeAt(options.now + LOOK_AGAIN_MS);
  // Trials that are under way end by themselves, and the next ones are held back.
  if (known) return true;
  if (options.now >= deadlineOf(observation, draft, options)) draft.fail(reason, message);
  return false;
}

function obstacleOf({ gateway, modelAnswer }: RunObservation, askNobody: boolean): Obstacle | null {
  if (gateway?.ready !== true) {
    const message = gateway?.message ?? 'the gateway is being created';
    return { reason: 'GatewayUnavailable', message, final: false };
  }
  if (askNobody) return null;
  switch (modelAnswer?.state) {
    case 'answered':
      return null;
    case 'refused':
      return { reason: modelAnswer.reason, message: modelAnswer.message, final: true };
    case 'unavailable':
      return { reason: 'ModelUnavailable', message: modelAnswer.message, final: false };
    case 'asking':
    case undefined:
      return { reason: 'AskingModel', message: 'the model is asked whether it answers', final: false };
  }
}

/** What may still come is waited for as long as a trial may take to start and a probe to pass. */
function deadlineOf({ run }: RunObservation, draft: PlanDraft, { now, preflight }: RunPlanOptions): number {
  const since = Date.parse(draft.condition('GatewayReady')?.lastTransitionTime ?? '') || now;
  return since + (run.spec.timeouts.start + preflight.seconds) * 1000;
}

/**
 * Why a run whose gateway went away and does not come back stands still; null while it may still come back, which
 * takes no longer than a pod may take to start.
 */
export function gatewayLost({ run }: RunObservation, draft: PlanDraft, now: number): string | null {
  const ready = draft.condition('GatewayReady');
  if (ready?.status !== 'False') return null;
  const deadline = Date.parse(ready.lastTransitionTime) + run.spec.timeouts.start * 1000;
  if (now >= deadline) return ready.message;
  draft.wakeAt(deadline);
  return null;
}

/** A run that is over needs no gateway; a rerun makes it anew, with the same Secret, Service and journal. */
export function closeGateway({ gateway }: RunObservation, draft: PlanDraft): void {
  if (gateway !== null) draft.removals.push({ kind: 'gateway', name: '', uid: gateway.uid });
  if (draft.condition('GatewayReady') !== undefined)
    draft.set('GatewayReady', 'Unknown', 'RunEnded', 'the run has ended, and its gateway is removed');
}
