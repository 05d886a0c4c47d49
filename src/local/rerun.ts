import { InvalidInputError } from '../api/errors.ts';
import type { RunRecord } from '../api/run.ts';
import type { TrialRecord } from '../api/trial.ts';
import type { RerunnableClass } from '../api/vocabulary.ts';
import { trialReopened } from '../attempt/trial-state.ts';

/** Which ended failures get a new base attempt. No scenario named means all. */
export interface RerunSelection {
  readonly classes: readonly RerunnableClass[];
  readonly scenarioIds: readonly string[];
}

/**
 * The trials that a rerun opens again, and the run's record with the rerun written down. What the agent caused
 * stays what it is: only the other classes can be named.
 *
 * @throws InvalidInputError when nothing matches
 */
export function planRerun(
  record: RunRecord,
  trials: readonly TrialRecord[],
  selection: RerunSelection,
  now: Date,
): { record: RunRecord; reopened: TrialRecord[]; revision: number } {
  const classes: ReadonlySet<string> = new Set(selection.classes);
  const scenarios = new Set(selection.scenarioIds);
  const matching = trials.filter(
    (trial) =>
      trial.phase === 'Scored' &&
      trial.class !== null &&
      classes.has(trial.class) &&
      (scenarios.size === 0 || scenarios.has(trial.scenarioId)),
  );
  const unknown = selection.scenarioIds.find((id) => !trials.some((trial) => trial.scenarioId === id));
  if (unknown !== undefined) {
    throw new InvalidInputError({ field: '--scenario', message: `the run has no scenario ${unknown}` });
  }
  if (matching.length === 0) {
    throw new InvalidInputError({
      field: '--class',
      message: `no ended trial failed with class ${selection.classes.join(', ')}`,
      remedy: 'clawbench show DIR --failed lists the failures with their classes.',
    });
  }
  const revision = Math.max(0, ...record.reruns.map((rerun) => rerun.revision)) + 1;
  const rerun = {
    revision,
    at: now.toISOString(),
    classes: [...selection.classes],
    scenarioIds: [...selection.scenarioIds],
  };
  return {
    record: { ...record, reruns: [...record.reruns, rerun] },
    reopened: matching.map((trial) => trialReopened(trial, revision)),
    revision,
  };
}
