import type { Outcome } from '../../api/vocabulary.ts';
import { duration, NO_PROGRESS, plainLine, type ProgressState } from '../../local/progress.ts';
import { visibleLine } from '../../report/visible-text.ts';
import { conditionOf, type RunObject, type TrialObject } from './resources.ts';

/** Counts for the progress line, computed anew from what the cluster holds. */
export function progressOf(
  run: RunObject | undefined,
  trials: Iterable<TrialObject>,
  endedBefore: number,
): ProgressState {
  let known = 0;
  let ended = 0;
  let running = 0;
  const outcomes: Partial<Record<Outcome, number>> = {};
  for (const { status } of trials) {
    known += 1;
    if (hasEnded(status)) ended += 1;
    if (status?.phase === 'Running' || status?.phase === 'Starting') running += 1;
    const outcome = status?.outcome;
    if (outcome !== undefined && outcome !== null) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }
  return {
    ...NO_PROGRESS,
    trials: Math.max(known, run?.status?.counts?.trials ?? 0),
    // A rerun opens ended trials again.
    finishedBefore: Math.min(endedBefore, ended),
    ended: Math.max(0, ended - endedBefore),
    running,
    outcomes,
  };
}

/** Whether a trial is at its end, graded or cancelled. */
export function hasEnded(status: TrialObject['status']): boolean {
  return status?.phase === 'Scored' || status?.phase === 'Cancelled';
}

/** What a change of a trial is worth saying; `attention` also on a terminal, where the bar tells the rest. */
export interface ProgressNote {
  readonly text: string;
  readonly attention: boolean;
}

/** @param state counts after the change */
export function trialNote(
  old: TrialObject | undefined,
  now: TrialObject,
  state: ProgressState,
  time: Date,
): ProgressNote | null {
  const { scenarioId, trialNumber } = now.spec;
  const name = `${scenarioId}/${trialNumber}`;
  const status = now.status;
  const reason = status?.reason === undefined || status.reason === null ? null : visibleLine(status.reason);
  if (
    status === undefined ||
    (status.phase === old?.status?.phase && reason === (old?.status?.reason ?? null))
  ) {
    return null;
  }
  switch (status.phase) {
    case 'Scored': {
      if (hasEnded(old?.status)) return null;
      const outcome = status.outcome ?? 'execution_failure';
      const text = plainLine(
        { kind: 'trial-ended', scenarioId, trialNumber, outcome, score: status.score ?? null, reason },
        state,
      );
      return text === null ? null : { text, attention: outcome !== 'pass' };
    }
    case 'Cancelled':
      return { text: `${name}: cancelled${reason === null ? '' : ` (${reason})`}`, attention: false };
    case 'Backoff': {
      if (old?.status?.phase === 'Backoff') return null;
      const last = status.attempts?.at(-1);
      const wait =
        status.notBefore === undefined || status.notBefore === null ? 0 : Date.parse(status.notBefore);
      const again = duration((wait - time.getTime()) / 1000);
      return {
        text: `${name}: attempt ${last?.number ?? 1} ended with ${last?.reason ?? 'a failure'}; again in ${again}`,
        attention: true,
      };
    }
    case 'Queued':
      return { text: `${name}: waits${reason === null ? '' : `: ${reason}`}`, attention: true };
    case 'Pending':
    case 'Starting':
    case 'Running':
    case 'Executed':
    case undefined:
      return null;
  }
}

/** Conditions that a watcher must know of when they are so. */
const ATTENTION = [
  ['Stalled', 'True'],
  ['Suspended', 'True'],
  ['GatewayReady', 'False'],
  ['SuiteFrozen', 'False'],
  ['ArtifactsCollected', 'False'],
] as const;

/** What a change of the run itself is worth saying. */
export function runNotes(old: RunObject | undefined, now: RunObject): ProgressNote[] {
  const notes: ProgressNote[] = [];
  const phase = now.status?.phase;
  if (phase !== undefined && phase !== old?.status?.phase) {
    notes.push({
      text: PHASE_TEXT[phase] ?? phase,
      attention: phase === 'Preparing' || phase === 'Suspended',
    });
  }
  for (const [type, bad] of ATTENTION) {
    const condition = conditionOf(now, type);
    const before = old === undefined ? undefined : conditionOf(old, type);
    // While things come up, most conditions are False in good order: only a message makes it news.
    if (condition?.status !== bad || condition.message === '') continue;
    if (before?.status === bad && before.message === condition.message) continue;
    notes.push({
      text: `${type} ${bad}: ${condition.reason}: ${visibleLine(condition.message)}`,
      attention: true,
    });
  }
  return notes;
}

const PHASE_TEXT: Readonly<Record<string, string>> = {
  Pending: 'waiting for the operator',
  Preparing: 'freezing the suite',
  Running: 'running trials',
  Scoring: 'scoring',
  Suspended: 'suspended: nothing new starts',
  Completed: 'completed',
  Failed: 'failed',
};
