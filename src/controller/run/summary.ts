import type { RunPhase, RunStatus } from '../../api/run-status.ts';
import type { Outcome } from '../../api/vocabulary.ts';
import { rowStatus } from '../../scoring/aggregate/row-status.ts';
import { hasEnded } from '../trial/transitions.ts';
import type { TrialView } from './observation.ts';
import type { PlanDraft } from './plan-draft.ts';

const FAILED: ReadonlySet<Outcome | null> = new Set([
  'threshold_miss',
  'safety_failure',
  'execution_failure',
]);

/** Trials by phase, outcome and class; recomputed at each look, never incremented. */
export function countTrials(trials: readonly TrialView[]): NonNullable<RunStatus['counts']> {
  return {
    trials: trials.length,
    byPhase: tally(trials.map(({ status }) => status.phase)),
    byOutcome: tally(trials.map(({ status }) => status.outcome)),
    byClass: tally(trials.map(({ status }) => status.class)),
    passed: trials.filter(({ status }) => status.outcome === 'pass').length,
    failed: trials.filter(({ status }) => FAILED.has(status.outcome)).length,
  };
}

function tally(words: readonly (string | null)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) if (word !== null) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

/** Counts and progress of a run, and whether what its attempts left was kept. */
export function summarise(
  trials: readonly TrialView[],
  declared: number,
  allEnded: boolean,
  draft: PlanDraft,
): void {
  const ended = trials.filter(({ status }) => hasEnded(status)).length;
  draft.say({ counts: countTrials(trials), progress: `${ended}/${declared}` });
  draft.set(
    'Executed',
    allEnded ? 'True' : 'False',
    allEnded ? 'AllEnded' : 'Running',
    `${ended} of ${declared} trials ended`,
  );
  if (!allEnded) {
    draft.say({ rowStatus: null });
    return;
  }
  const deciding = trials.flatMap(({ status }) => {
    const attempt = status.attempts.find(({ number }) => number === status.decidedBy);
    return attempt === undefined ? [] : [attempt];
  });
  const collected = deciding.filter(({ artifacts }) => artifacts?.collected === true).length;
  const whole = collected === deciding.length;
  draft.set(
    'ArtifactsCollected',
    whole ? 'True' : 'False',
    whole ? 'AllCollected' : 'SomeMissing',
    `${collected} of ${deciding.length} deciding attempts left their artifacts whole`,
  );
}

/** Under which condition the run's row was measured; once everything is scored. */
export function rowStatusOf(trials: readonly TrialView[]) {
  return rowStatus(
    trials.flatMap(({ status }) => {
      if (status.outcome === null) return [];
      const attempt = status.attempts.find(({ number }) => number === status.decidedBy);
      return [{ outcome: status.outcome, rerun: typeof attempt?.rerunRevision === 'number' }];
    }),
  );
}

/** The phase that people see, derived from the conditions. Nothing branches on it. */
export function phaseOf(draft: PlanDraft, live: number): RunPhase {
  if (draft.holds('Failed')) return 'Failed';
  if (draft.holds('Complete')) return 'Completed';
  if (draft.holds('Suspended') && live === 0) return 'Suspended';
  if (draft.holds('Executed')) return 'Scoring';
  if (draft.holds('SuiteFrozen')) return 'Running';
  return draft.condition('SuiteFrozen')?.reason === 'MissingReference' ? 'Pending' : 'Preparing';
}

/** One sentence for the column REASON: what keeps or kept the run from its end; null where nothing does. */
export function reasonOf(draft: PlanDraft): string | null {
  for (const type of ['Failed', 'Stalled'] as const) {
    const condition = draft.condition(type);
    if (condition?.status === 'True') return `${condition.reason}: ${condition.message}`.slice(0, 1024);
  }
  for (const type of ['SuiteFrozen', 'GatewayReady'] as const) {
    const condition = draft.condition(type);
    if (condition?.status === 'False' && condition.reason !== 'Freezing') {
      return `${condition.reason}: ${condition.message}`.slice(0, 1024);
    }
  }
  return null;
}
