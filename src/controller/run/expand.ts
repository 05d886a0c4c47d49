import type { FailureClass } from '../../api/vocabulary.ts';
import { DIMENSIONS, type Dimension } from '../../api/vocabulary.ts';
import { trialName } from '../../api/names.ts';
import { hasEnded, reopened, unsupported } from '../trial/transitions.ts';
import { rerunAsked } from './abort.ts';
import type { RunObservation, SuiteView } from './observation.ts';
import type { PlanDraft } from './plan-draft.ts';

/** Trials created in one pass: enough for long batches, few enough that the first start before the last exist. */
const AT_ONCE = 200;

/** How many trials the run declares. */
export function declaredTrials({ run }: Pick<RunObservation, 'run'>, suite: SuiteView): number {
  return suite.scenarios.length * run.spec.trialsPerScenario;
}

/**
 * Creates the Trials that are missing: first every scenario's first trial, then every second one, so that a run that is
 * cut short has covered the suite as widely as it could. Returns true when all are there.
 */
export function expandTrials(observation: RunObservation, suite: SuiteView, draft: PlanDraft): boolean {
  const { run, trials, createdTrials } = observation;
  const known = new Set(trials.map(({ name }) => name));
  let complete = true;
  for (let number = 1; number <= run.spec.trialsPerScenario; number += 1) {
    for (const scenario of suite.scenarios) {
      const name = trialName(run.name, run.uid, scenario.id, number);
      if (known.has(name)) continue;
      complete = false;
      if (createdTrials.has(name) || draft.trials.length >= AT_ONCE) continue;
      draft.trials.push({
        name,
        spec: {
          runName: run.name,
          scenarioId: scenario.id,
          trialNumber: number,
          dimension: asDimension(scenario.dimension),
          scenarioDigest: scenario.digest,
          suiteDigest: suite.suiteDigest,
        },
      });
    }
  }
  return complete;
}

/** Trials of scenarios that need a surface which the runtime lacks are over before they begin. */
export function markUnsupported(observation: RunObservation, suite: SuiteView, draft: PlanDraft): void {
  const needs = new Map(suite.scenarios.map(({ id, surfaces }) => [id, surfaces]));
  for (const trial of observation.trials) {
    if (trial.status.phase !== 'Pending' || trial.status.attempts.length > 0) continue;
    const missing = missingSurfaces(needs.get(trial.spec.scenarioId) ?? [], observation.surfaces);
    if (missing.length > 0) {
      draft.trialStatuses.push({ trial, status: unsupported(trial.status, missing) });
    }
  }
}

export function missingSurfaces(needed: readonly string[], offered: readonly string[]): string[] {
  return needed.filter((surface) => !offered.includes(surface));
}

/**
 * Opens ended failures again, as spec.rerun asks. Its revision is taken up once every one of them is seen open, so that
 * a stop in between loses none and a failure that comes later is not taken in.
 */
export function takeUpRerun(observation: RunObservation, draft: PlanDraft): void {
  const { run, trials } = observation;
  const { rerun } = run.spec;
  if (rerun === undefined || !rerunAsked(run)) return;
  const classes: ReadonlySet<FailureClass> = new Set(rerun.classes);
  const scenarios = new Set(rerun.scenarioIds);
  const matching = trials.filter(
    ({ spec, status }) =>
      hasEnded(status) &&
      status.phase !== 'Cancelled' &&
      status.rerunRevision !== rerun.revision &&
      status.class !== null &&
      classes.has(status.class) &&
      (scenarios.size === 0 || scenarios.has(spec.scenarioId)),
  );
  for (const trial of matching) {
    draft.trialStatuses.push({ trial, status: reopened(trial.status, rerun.revision) });
  }
  if (matching.length > 0) return;
  const taken = trials.filter(({ status }) => status.rerunRevision === rerun.revision).length;
  draft.say({ rerunRevision: rerun.revision });
  draft.events.push({
    type: 'Normal',
    reason: 'RerunTakenUp',
    note: `rerun ${rerun.revision} opened ${taken} trials again`,
  });
  if (taken === 0) return;
  const message = `rerun ${rerun.revision} of ${taken} trials`;
  draft.set('Complete', 'False', 'Rerun', message);
  draft.set('Failed', 'False', 'Rerun', message);
  draft.set('Stalled', 'False', 'Rerun', message);
  draft.say({ completionTime: undefined });
}

function asDimension(dimension: string): Dimension {
  const known = DIMENSIONS.find((candidate) => candidate === dimension);
  if (known === undefined) throw new RangeError(`the index of the suite names no dimension: ${dimension}`);
  return known;
}
