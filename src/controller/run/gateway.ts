import { hasEnded } from '../trial/transitions.ts';
import type { RunObservation, RunPlanOptions } from './observation.ts';
import type { PlanDraft } from './plan-draft.ts';

/** Key of provenance that says when the model answered before the first trial. */
export const MODEL_ANSWERED = 'modelAnsweredAt';

const LOOK_AGAIN_MS = 1000;

/**
 * The run's gateway, once the folder of its journal is on the volume, and one question to the model behind it. Returns
 * true when trials may use it; whether it is there at the moment is condition GatewayReady, by which trials are held
 * back later.
 */
export function openGateway(observation: RunObservation, draft: PlanDraft, options: RunPlanOptions): boolean {
  const { needsGateway, gateway, trials } = observation;
  if (!needsGateway || (trials.length > 0 && trials.every(({ status }) => hasEnded(status)))) return true;
  if (gateway === null) draft.children.push({ kind: 'gateway' });
  const ready = gateway?.ready ?? false;
  const message = ready ? '' : (gateway?.message ?? 'the gateway is being created');
  draft.set('GatewayReady', ready ? 'True' : 'False', ready ? 'Available' : 'Unavailable', message);
  if (draft.status.provenance?.[MODEL_ANSWERED] !== undefined) return true;
  if (!ready) {
    waitFor(observation, draft, options, 'GatewayUnavailable', message);
    return false;
  }
  if (!options.preflight.enabled) return true;
  return hasModelAnswered(observation, draft, options);
}

function hasModelAnswered(observation: RunObservation, draft: PlanDraft, options: RunPlanOptions): boolean {
  const answer = observation.modelAnswer;
  switch (answer?.state) {
    case 'answered': {
      const at = new Date(options.now).toISOString();
      draft.say({ provenance: { ...draft.status.provenance, [MODEL_ANSWERED]: at } });
      return true;
    }
    case 'refused':
      draft.fail(answer.reason, `${answer.message}; no trial was started`);
      return false;
    case 'unavailable':
      draft.set('GatewayReady', 'False', 'ModelUnavailable', answer.message);
      waitFor(observation, draft, options, 'ModelUnavailable', answer.message);
      return false;
    case 'asking':
    case undefined:
      draft.wakeAt(options.now + LOOK_AGAIN_MS);
      return false;
  }
}

/** What may still come is waited for, as long as a trial may take to start and a probe to pass. */
function waitFor(
  { run }: RunObservation,
  draft: PlanDraft,
  { now, preflight }: RunPlanOptions,
  reason: string,
  message: string,
): void {
  const since = Date.parse(draft.condition('SuiteFrozen')?.lastTransitionTime ?? '') || now;
  const deadline = since + (run.spec.timeouts.start + preflight.seconds) * 1000;
  if (now >= deadline) draft.fail(reason, message);
  else draft.wakeAt(Math.min(deadline, now + LOOK_AGAIN_MS));
}
