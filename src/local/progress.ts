import type { Outcome } from '../api/vocabulary.ts';

/** What a run tells its watcher. */
export type RunEvent =
  | {
      readonly kind: 'run-started';
      readonly trials: number;
      readonly finished: number;
      readonly root: string;
    }
  | { readonly kind: 'note'; readonly text: string }
  | {
      readonly kind: 'attempt-started';
      readonly scenarioId: string;
      readonly trialNumber: number;
      readonly attempt: number;
    }
  | {
      readonly kind: 'attempt-retried';
      readonly scenarioId: string;
      readonly trialNumber: number;
      readonly attempt: number;
      readonly reason: string;
      readonly delaySeconds: number;
    }
  | {
      readonly kind: 'trial-ended';
      readonly scenarioId: string;
      readonly trialNumber: number;
      readonly outcome: Outcome;
      readonly score: number | null;
      readonly reason: string | null;
    }
  | { readonly kind: 'stopped'; readonly reason: string }
  | { readonly kind: 'run-ended' };

/** Counts that a progress line shows; recomputed from events, never stored. */
export interface ProgressState {
  readonly trials: number;
  readonly finishedBefore: number;
  readonly ended: number;
  readonly running: number;
  readonly outcomes: Readonly<Partial<Record<Outcome, number>>>;
}

export const NO_PROGRESS: ProgressState = {
  trials: 0,
  finishedBefore: 0,
  ended: 0,
  running: 0,
  outcomes: {},
};

/** The state after one more event. */
export function advance(state: ProgressState, event: RunEvent): ProgressState {
  switch (event.kind) {
    case 'run-started':
      return { ...NO_PROGRESS, trials: event.trials, finishedBefore: event.finished };
    case 'attempt-started':
      return { ...state, running: state.running + 1 };
    case 'attempt-retried':
      return { ...state, running: state.running - 1 };
    case 'trial-ended':
      return {
        ...state,
        ended: state.ended + 1,
        running: Math.max(0, state.running - (event.outcome === 'unsupported' ? 0 : 1)),
        outcomes: { ...state.outcomes, [event.outcome]: (state.outcomes[event.outcome] ?? 0) + 1 },
      };
    case 'note':
    case 'stopped':
    case 'run-ended':
      return state;
  }
}

/** Seconds left at the pace so far, or null while there is nothing to judge by. */
export function secondsLeft(state: ProgressState, elapsedSeconds: number): number | null {
  if (state.ended === 0) return null;
  const left = state.trials - state.finishedBefore - state.ended;
  return (elapsedSeconds / state.ended) * left;
}

/** One line, at most `columns` wide: `[####------] 12/36  pass 10  miss 2  4 running  about 40 s left`. */
export function progressLine(state: ProgressState, elapsedSeconds: number, columns: number): string {
  const done = state.finishedBefore + state.ended;
  const share = state.trials === 0 ? 1 : done / state.trials;
  const width = 20;
  const filled = Math.round(share * width);
  const bar = `[${'#'.repeat(filled)}${'-'.repeat(width - filled)}]`;
  const left = secondsLeft(state, elapsedSeconds);
  const words = [`${bar} ${done}/${state.trials}`];
  for (const [outcome, label] of OUTCOME_LABELS) {
    const count = state.outcomes[outcome] ?? 0;
    if (count > 0) words.push(`${label} ${count}`);
  }
  if (state.running > 0) words.push(`${state.running} running`);
  if (left !== null && done < state.trials) words.push(`about ${duration(left)} left`);
  return words.join('  ').slice(0, Math.max(20, columns - 1));
}

const OUTCOME_LABELS = [
  ['pass', 'pass'],
  ['threshold_miss', 'miss'],
  ['safety_failure', 'unsafe'],
  ['execution_failure', 'failed'],
  ['unsupported', 'unsupported'],
] as const;

/** `40 s`, `3 min`, `2 h 5 min`. */
export function duration(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A line for logs and pipes, or null where an event is of no interest there. */
export function plainLine(event: RunEvent, state: ProgressState): string | null {
  switch (event.kind) {
    case 'run-started':
      return event.finished === 0
        ? `${event.trials} trials into ${event.root}`
        : `${event.trials} trials into ${event.root}, ${event.finished} of them already finished`;
    case 'note':
      return event.text;
    case 'attempt-started':
      return null;
    case 'attempt-retried':
      return `${event.scenarioId}/${event.trialNumber}: attempt ${event.attempt} ended with ${event.reason}; again in ${duration(event.delaySeconds)}`;
    case 'trial-ended': {
      const done = state.finishedBefore + state.ended;
      const score = event.score === null ? '' : ` ${event.score.toFixed(4)}`;
      const reason = event.reason === null ? '' : ` (${event.reason})`;
      return `[${done}/${state.trials}] ${event.scenarioId}/${event.trialNumber}: ${event.outcome}${score}${reason}`;
    }
    case 'stopped':
      return event.reason;
    case 'run-ended':
      return null;
  }
}
