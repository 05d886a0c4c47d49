import { runChildName } from '../../api/names.ts';
import { RUN_FINALIZER } from '../../api/pod-contract.ts';
import { abortOf, rerunAsked, type Abort } from './abort.ts';
import { guardAgainstSeries } from './breaker.ts';
import { declaredTrials, expandTrials, markUnsupported, takeUpRerun } from './expand.ts';
import { planDeletion, releaseWhenIdle, sweep, timeToLive } from './ending.ts';
import { openGateway } from './gateway.ts';
import type { RunObservation, RunPlanOptions } from './observation.ts';
import { PlanDraft, type RunPlan } from './plan-draft.ts';
import { haveAllEnded, planRounds } from './rounds.ts';
import { checkReferences, freezeSuite, isCoLocated, probeRuntime, setUpChildren } from './setup.ts';
import { phaseOf, reasonOf, rowStatusOf, summarise } from './summary.ts';

/**
 * Decides what a run needs now. Pure: the same observation and time give the same plan, so that a controller which
 * stops anywhere goes on where it stopped.
 */
export function planRun(observation: RunObservation, options: RunPlanOptions): RunPlan {
  const { run } = observation;
  const draft = new PlanDraft(run, options.now);
  draft.say({ observedGeneration: run.generation, startTime: run.status.startTime ?? iso(options.now) });
  const abort = abortOf(run, options.now, options.breaker.failAfterSeconds);
  if (run.object.metadata.deletionTimestamp !== undefined) planDeletion(observation, draft, options);
  else advance(observation, draft, options, abort);
  const live = observation.pods.filter((pod) => pod.live).length;
  draft.say({ phase: phaseOf(draft, live), reason: reasonOf(draft) });
  return draft.done();
}

/** The steps of a run, in order; the first that is not done yet ends the pass. */
function advance(
  observation: RunObservation,
  draft: PlanDraft,
  options: RunPlanOptions,
  abort: Abort | null,
): void {
  const { run } = observation;
  const { now } = options;
  if (rerunAsked(run) && draft.holds('SuiteFrozen') && !run.spec.cancel) takeUpRerun(observation, draft);
  setSuspended(observation, draft);
  const finished = draft.holds('Complete') || draft.holds('Failed');
  const rescoring = draft.holds('Complete') && (run.status.scoredRevision ?? 0) < run.spec.scoring.revision;
  if (finished && !rescoring) {
    releaseWhenIdle(observation, draft);
    sweep(observation, draft, options);
    timeToLive(observation, draft, now);
    return;
  }
  if (abort !== null && observation.suite === null) {
    if (observation.prepare?.state === 'active') {
      draft.removals.push({
        kind: 'job',
        name: runChildName(run.name, 'prepare'),
        uid: observation.prepare.uid,
      });
    }
    draft.fail(abort.reason, abort.message);
    return;
  }
  if (!draft.holds('SuiteFrozen') && !checkReferences(observation, draft, now)) return;
  if (!setUpChildren(observation, draft, now)) return;
  const probed = abort !== null || probeRuntime(observation, draft, options);
  if (draft.holds('Failed') || !freezeSuite(observation, draft, now) || !probed) return;
  if (observation.suite === null) return;
  if (abort === null && !openGateway(observation, draft, options)) return;

  // The finalizer is a write of its own, before there is anything that it protects.
  const protectedRun = run.object.metadata.finalizers?.includes(RUN_FINALIZER) === true;
  if (!protectedRun) {
    draft.finalizer = 'add';
    return;
  }
  const declared = declaredTrials(observation, observation.suite);
  const expanded = expandTrials(observation, observation.suite, draft);
  markUnsupported(observation, observation.suite, draft);
  if (abort === null) guardAgainstSeries(observation, draft, now);
  if (draft.holds('Stalled')) wakeForStall(draft, options);
  const allEnded = expanded && haveAllEnded(observation.trials, declared);
  summarise(observation.trials, declared, allEnded, draft);
  showCoLocation(observation, draft);
  draft.releaseClaim = mayReleaseClaim(observation);
  draft.say({
    provenance: {
      ...draft.status.provenance,
      ...observation.seen,
      operatorVersion: options.operatorVersion,
      operatorImage: options.operatorImage,
    },
  });
  sweep(observation, draft, options);

  const scoring = planRounds(observation, allEnded, draft, now);
  if (scoring.state === 'open' || !allEnded) {
    draft.set('Scored', 'False', allEnded ? 'Scoring' : 'Running', '');
    return;
  }
  finish(observation, draft, abort, scoring);
}

function finish(
  { run, trials }: RunObservation,
  draft: PlanDraft,
  abort: Abort | null,
  scoring: ReturnType<typeof planRounds>,
): void {
  draft.say({ scoredRevision: run.spec.scoring.revision, rowStatus: rowStatusOf(trials) });
  if (scoring.state === 'impossible') {
    draft.set('Scored', 'False', 'ScoringFailed', scoring.message);
    if (!draft.holds('Complete')) draft.fail('ScoringFailed', scoring.message);
    return;
  }
  draft.set('Scored', 'True', 'Scored', `revision ${run.spec.scoring.revision}`);
  if (abort !== null) draft.fail(abort.reason, abort.message);
  else draft.complete(`${trials.length} trials`);
}

function setSuspended({ run }: RunObservation, draft: PlanDraft): void {
  if (run.spec.suspend)
    draft.set('Suspended', 'True', 'Suspended', 'spec.suspend is true: no trial is started');
  else if (draft.condition('Suspended') !== undefined) draft.set('Suspended', 'False', 'Resumed', '');
}

/** A stalled run is looked at again when it is time to give it up. */
function wakeForStall(draft: PlanDraft, { breaker }: RunPlanOptions): void {
  const since = Date.parse(draft.condition('Stalled')?.lastTransitionTime ?? '');
  draft.wakeAt(since + breaker.failAfterSeconds * 1000);
}

/** Trials that share a node for want of a claim that several can mount: it is said where artifacts are spoken of. */
function showCoLocation({ claim }: RunObservation, draft: PlanDraft): void {
  if (!isCoLocated(claim) || draft.condition('ArtifactsCollected')?.status === 'True') return;
  const modes = claim?.accessModes.join(', ') ?? '';
  const before = draft.condition('ArtifactsCollected');
  const message = `claim ${claim?.name ?? ''} is ${modes}: all pods of the run share one node`;
  if (before === undefined) draft.set('ArtifactsCollected', 'Unknown', 'OneNode', message);
}

/** A claim of the run's own goes with the run only while it holds nothing. */
function mayReleaseClaim({ run, claim, trials }: RunObservation): boolean {
  return (
    run.spec.artifacts.retain &&
    claim?.ownedByRun === true &&
    trials.some(({ status }) => status.attempts.some(({ artifacts }) => artifacts !== null))
  );
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
