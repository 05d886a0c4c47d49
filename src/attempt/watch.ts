import type { ResolvedTimeouts } from '../api/timeouts.ts';
import type { KillReason } from '../api/vocabulary.ts';

/** How often the harness looks for progress (executor specification, section 7). */
export const POLL_MS = 2000;

/** What the harness knows about a running turn. Times are monotonic milliseconds. */
export interface WatchState {
  readonly timeouts: Pick<ResolvedTimeouts, 'startupSilence' | 'stall' | 'turn' | 'total' | 'wall'>;
  /** When the turn's process was started. */
  readonly startedAt: number;
  /** When the first turn of the attempt was started. */
  readonly firstStartedAt: number;
  /** Executor time of the turns before this one. */
  readonly spentMs: number;
  /** Last sign of life since the start of the turn; null while there was none. */
  readonly lastProgressAt: number | null;
  /** Time of this turn during which the gateway held the agent's calls: on no clock but `wall`. */
  readonly heldMs: number;
  /** `heldMs` as it was at the last sign of life. */
  readonly heldAtProgressMs: number;
  /** Bytes over the disk bound; 0 when within it. */
  readonly diskOverBytes: number;
  /** Somebody asked for the end of the attempt. */
  readonly abort: 'cancelled' | 'interrupted' | null;
}

export type WatchAction =
  /** Look again after this time: at the next poll, or when the next clock runs out if that is sooner. */
  { readonly kind: 'wait'; readonly ms: number } | { readonly kind: 'kill'; readonly reason: KillReason };

/**
 * Bound of one turn in seconds: max(1, min(turn, what is left of total)) (executor specification, section 4).
 */
export function turnBound(turn: number, total: number, spentMs: number): number {
  return Math.max(1, Math.min(turn, total - spentMs / 1000));
}

/**
 * Decides what to do about a running turn. Pure. Where several clocks have run out between two looks, the one
 * that ran out first gives the reason; at a tie, silence before stall before turn before total before wall,
 * because the more special word says more.
 */
export function watch(now: number, state: WatchState): WatchAction {
  if (state.abort !== null) return { kind: 'kill', reason: state.abort };
  if (state.diskOverBytes > 0) return { kind: 'kill', reason: 'disk_limit' };

  const { timeouts, startedAt, heldMs } = state;
  const ownTotal = timeouts.total - state.spentMs / 1000 < timeouts.turn;
  const quiet =
    state.lastProgressAt === null
      ? { reason: 'startup_silence' as const, at: startedAt + timeouts.startupSilence * 1000 + heldMs }
      : {
          reason: 'stall' as const,
          at: state.lastProgressAt + timeouts.stall * 1000 + heldMs - state.heldAtProgressMs,
        };
  const clocks: { reason: KillReason; at: number }[] = [
    quiet,
    {
      reason: ownTotal ? 'total_deadline' : 'turn_deadline',
      at: startedAt + turnBound(timeouts.turn, timeouts.total, state.spentMs) * 1000 + heldMs,
    },
    { reason: 'wall_deadline', at: state.firstStartedAt + timeouts.wall * 1000 },
  ];
  const next = clocks.reduce((first, clock) => (clock.at < first.at ? clock : first));
  if (next.at <= now) return { kind: 'kill', reason: next.reason };
  return { kind: 'wait', ms: Math.min(POLL_MS, next.at - now) };
}
