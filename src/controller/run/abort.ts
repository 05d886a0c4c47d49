import { conditionOf, type RunView } from '../run-view.ts';

/** Why no trial of a run may go on. */
export interface Abort {
  /** CamelCase: reason of condition Failed, and of cancelled trials. */
  readonly reason: string;
  readonly message: string;
}

/**
 * Whether a run is to stop, from what is declared and persisted alone, so that every replica and every pass says the
 * same.
 */
export function abortOf(run: RunView, now: number, failAfterSeconds: number): Abort | null {
  if (run.object.metadata.deletionTimestamp !== undefined) {
    return { reason: 'Deleted', message: 'the run is being deleted' };
  }
  if (run.spec.cancel) return { reason: 'Cancelled', message: 'spec.cancel is true' };
  const failed = conditionOf(run, 'Failed');
  if (failed?.status === 'True' && !rerunAsked(run))
    return { reason: failed.reason, message: failed.message };
  const stalled = conditionOf(run, 'Stalled');
  if (stalled?.status !== 'True' || rerunAsked(run)) return null;
  const since = Date.parse(stalled.lastTransitionTime);
  return now >= since + failAfterSeconds * 1000
    ? { reason: stalled.reason, message: `stalled for ${failAfterSeconds} s: ${stalled.message}` }
    : null;
}

/** A rerun that was declared and not yet taken up. */
export function rerunAsked(run: RunView): boolean {
  return run.spec.rerun !== undefined && run.spec.rerun.revision > (run.status.rerunRevision ?? 0);
}
