import { runChildName } from '../../api/names.ts';
import { RUN_FINALIZER } from '../../api/pod-contract.ts';
import { closeGateway } from './gateway.ts';
import type { RunObservation, RunPlanOptions } from './observation.ts';
import type { PlanDraft } from './plan-draft.ts';

/*
 * What becomes of a run that is over or deleted: its finalizer, its failed pods, its gateway, its own end.
 */

/**
 * A deleted run is held until its pods have collected and are gone, but never longer than a bound: a finalizer must not
 * keep a namespace from ending.
 */
export function planDeletion(observation: RunObservation, draft: PlanDraft, options: RunPlanOptions): void {
  const { run, pods } = observation;
  if (!isProtected(observation)) return;
  const deletedAt = Date.parse(run.object.metadata.deletionTimestamp ?? '');
  const deadline = deletedAt + options.finalizerSeconds * 1000;
  const live = pods.filter((pod) => pod.live);
  const open = observation.trials.filter(
    ({ status }) => status.attempts.some(({ endedAt }) => endedAt === null) && status.phase !== 'Cancelled',
  );
  if (live.length === 0 && open.length === 0) {
    draft.finalizer = 'remove';
    return;
  }
  if (options.now < deadline) {
    draft.wakeAt(deadline);
    return;
  }
  draft.finalizer = 'remove';
  draft.events.push({
    type: 'Warning',
    reason: 'ReleasedUncollected',
    note: `${live.length} pods did not end within ${options.finalizerSeconds} s; the run is let go without their artifacts`,
  });
}

/** A run that is over and has no live pod is not held any more. */
export function releaseWhenIdle(observation: RunObservation, draft: PlanDraft): void {
  if (isProtected(observation) && !observation.pods.some((pod) => pod.live)) draft.finalizer = 'remove';
  closeGateway(observation, draft);
}

/** Removes what nobody needs: failed pods but the last ones, a probe that has told what it could. */
export function sweep(
  { pods, trials, probe, run }: RunObservation,
  draft: PlanDraft,
  { failedPodsKept }: RunPlanOptions,
): void {
  const endedAt = new Map(
    trials.flatMap(({ status }) =>
      status.attempts.map((attempt) => [attempt.podUID, attempt.endedAt] as const),
    ),
  );
  const failed = pods
    .filter((pod) => !pod.live && (endedAt.get(pod.uid) ?? null) !== null)
    .sort(
      (left, right) => Date.parse(endedAt.get(right.uid) ?? '') - Date.parse(endedAt.get(left.uid) ?? ''),
    );
  for (const { name, uid } of failed.slice(failedPodsKept)) {
    draft.removals.push({ kind: 'pod', name, uid });
  }
  const over = run.status.completionTime !== undefined;
  if (over && probe?.state === 'passed')
    draft.removals.push({ kind: 'pod', name: runChildName(run.name, 'probe'), uid: probe.uid });
}

/** Deletes a finished run when its time has come, by how it ended. */
export function timeToLive({ run }: RunObservation, draft: PlanDraft, now: number): void {
  const { succeeded, failed } = run.spec.ttlSecondsAfterFinished ?? {};
  const seconds = draft.holds('Failed') ? failed : succeeded;
  if (seconds === undefined || run.status.completionTime === undefined) return;
  const at = Date.parse(run.status.completionTime) + seconds * 1000;
  if (now >= at) draft.deleteRun = true;
  else draft.wakeAt(at);
}

function isProtected({ run }: RunObservation): boolean {
  return run.object.metadata.finalizers?.includes(RUN_FINALIZER) === true;
}
