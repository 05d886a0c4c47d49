import { tripped, type BreakerTrip } from '../../attempt/breaker.ts';
import { gatewayLost } from './gateway.ts';
import type { PlanDraft } from './plan-draft.ts';
import type { RunObservation, TrialView } from './observation.ts';

/**
 * Stops a run whose attempts all fail alike and not by the agent, or whose gateway or pods do not come, and lets it go
 * on with the first that ends otherwise. Recomputed from the Trials at each look.
 */
export function guardAgainstSeries(observation: RunObservation, draft: PlanDraft, now: number): void {
  const { run, trials, podRefusal } = observation;
  if (podRefusal !== null) {
    stall(draft, 'PodsRefused', podRefusal);
    return;
  }
  const lost = gatewayLost(observation, draft, now);
  if (lost !== null) {
    stall(draft, 'GatewayUnavailable', lost);
    return;
  }
  const trip: BreakerTrip | null = tripped(endedAttempts(trials), run.spec.parallelism);
  if (trip === null) {
    if (draft.holds('Stalled'))
      draft.set('Stalled', 'False', 'Recovered', 'nothing keeps attempts from ending otherwise');
    return;
  }
  const { attempts, reason } = trip;
  stall(draft, reason, `the last ${attempts} attempts all ended with ${trip.class} failure ${reason}`);
}

/** Says that nothing moves, and why; the run fails when that lasts. */
export function stall(draft: PlanDraft, reason: string, message: string): void {
  if (!draft.holds('Stalled')) draft.events.push({ type: 'Warning', reason: 'Stalled', note: message });
  draft.set('Stalled', 'True', reason, message);
}

/** Ended attempts in the order they ended; those of an earlier rerun tell nothing of the present. */
function endedAttempts(trials: readonly TrialView[]) {
  const latest = Math.max(0, ...trials.map(({ status }) => status.rerunRevision ?? 0));
  return trials
    .flatMap(({ status }) => status.attempts)
    .filter((attempt) => attempt.endedAt !== null && (attempt.rerunRevision ?? 0) === latest)
    .sort((left, right) => Date.parse(left.endedAt ?? '') - Date.parse(right.endedAt ?? ''));
}
