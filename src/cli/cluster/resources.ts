import type { z } from 'zod';
import type { RunConditionType, runStatusSchema } from '../../api/run-status.ts';
import type { TrialSpec, trialStatusSchema } from '../../api/trial-resource.ts';
import type { RerunnableClass } from '../../api/vocabulary.ts';
import type { CustomObject } from '../../kube/object.ts';
import { BENCHMARK_RUNS, TRIALS, typed } from '../../kube/resource.ts';

/** What of a run's spec these commands read; the API server holds it to its schema. */
export interface RunSpecView {
  readonly suspend?: boolean;
  readonly cancel?: boolean;
  readonly scoring?: { readonly revision?: number };
  readonly rerun?: {
    readonly revision: number;
    readonly classes: readonly RerunnableClass[];
    readonly scenarioIds?: readonly string[];
  };
}

/** A run as the API server has it. Nothing is parsed, so that a newer operator's words are shown and not refused. */
export type RunObject = CustomObject<RunSpecView, z.input<typeof runStatusSchema>>;
export type TrialObject = CustomObject<TrialSpec, z.input<typeof trialStatusSchema>>;

export const RUN_RESOURCE = typed<RunObject>(BENCHMARK_RUNS);
export const TRIAL_RESOURCE = typed<TrialObject>(TRIALS);

/** The condition of a type, or undefined while nobody has said it. */
export function conditionOf(run: RunObject, type: RunConditionType) {
  return run.status?.conditions?.find((condition) => condition.type === type);
}

export const holds = (run: RunObject, type: RunConditionType): boolean =>
  conditionOf(run, type)?.status === 'True';

/**
 * Whether a run has done what its spec asks for, a rerun and a new scoring included.
 *
 * @returns how it ended, or null while it goes on
 */
export function endOf(run: RunObject): 'complete' | 'failed' | null {
  const { spec, status, metadata } = run;
  // What stands in the status is about an older spec.
  if (status === undefined || (status.observedGeneration ?? 0) < (metadata.generation ?? 0)) return null;
  if (holds(run, 'Failed')) return 'failed';
  if (!holds(run, 'Complete')) return null;
  if (spec.rerun !== undefined && (status.rerunRevision ?? 0) < spec.rerun.revision) return null;
  if ((status.scoredRevision ?? 0) < (spec.scoring?.revision ?? 1)) return null;
  return 'complete';
}

/** Whether a run can still be suspended or cancelled. */
export const isOver = (run: RunObject): boolean => holds(run, 'Complete') || holds(run, 'Failed');
