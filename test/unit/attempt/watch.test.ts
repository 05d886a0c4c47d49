import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { POLL_MS, turnBound, watch, type WatchState } from '../../../src/attempt/watch.ts';

const running: WatchState = {
  timeouts: { startupSilence: 180, stall: 600, turn: 1200, total: 1800, wall: 4200 },
  startedAt: 1_000_000,
  firstStartedAt: 1_000_000,
  spentMs: 0,
  lastProgressAt: null,
  heldMs: 0,
  heldAtProgressMs: 0,
  diskOverBytes: 0,
  abort: null,
};

/** Decision `seconds` after the start of the turn. */
function after(seconds: number, state: Partial<WatchState> = {}) {
  return watch(running.startedAt + seconds * 1000, { ...running, ...state });
}
const progressAt = (seconds: number) => ({ lastProgressAt: running.startedAt + seconds * 1000 });
const kill = (reason: string) => ({ kind: 'kill', reason });

describe('bound of a turn', () => {
  it.each([
    [1200, 1800, 0, 1200],
    [1200, 1800, 700_000, 1100],
    [1200, 1800, 1_799_900, 1],
    [1200, 1800, 1_900_000, 1],
    [0.5, 1800, 0, 1],
  ])('of turn %d s, total %d s with %d ms spent is %d s', (turn, total, spentMs, bound) => {
    expect(turnBound(turn, total, spentMs)).toBe(bound);
  });
});

describe('watch', () => {
  it('waits for the next poll while every clock has time', () => {
    expect(after(10)).toEqual({ kind: 'wait', ms: POLL_MS });
  });

  it('wakes when a clock runs out before the next poll', () => {
    expect(after(179.5)).toEqual({ kind: 'wait', ms: 500 });
  });

  it('ends an agent that never showed a sign of life', () => {
    expect(after(180)).toEqual(kill('startup_silence'));
  });

  it('does not call an agent silent that spoke and then fell still, but stalled', () => {
    expect(after(700, progressAt(100))).toEqual(kill('stall'));
    expect(after(699, progressAt(100)).kind).toBe('wait');
  });

  it('ends a busy agent at the bound of the turn', () => {
    expect(after(1200, progressAt(1199))).toEqual(kill('turn_deadline'));
  });

  it('says total_deadline when the rest of the total is what ran out', () => {
    expect(after(1100, { ...progressAt(1099), spentMs: 700_000 })).toEqual(kill('total_deadline'));
  });

  it('holds the wall bound from the first turn on, whatever the gateway held', () => {
    const state = { ...progressAt(699), firstStartedAt: running.startedAt - 3_600_000, heldMs: 600_000 };
    expect(after(600, state)).toEqual(kill('wall_deadline'));
  });

  it('takes the time that the gateway held calls off silence, stall and turn', () => {
    expect(after(200, { heldMs: 30_000 }).kind).toBe('wait');
    expect(after(1210, { ...progressAt(1209), heldMs: 30_000, heldAtProgressMs: 30_000 }).kind).toBe('wait');
    expect(after(700, { ...progressAt(100), heldMs: 30_000 }).kind).toBe('wait');
    // What was held before the last sign of life does not lengthen the stall after it.
    expect(after(700, { ...progressAt(100), heldMs: 30_000, heldAtProgressMs: 30_000 })).toEqual(
      kill('stall'),
    );
  });

  it('ends at once for a full disk and for a person who wants it ended', () => {
    expect(after(1, { diskOverBytes: 1 })).toEqual(kill('disk_limit'));
    expect(after(1, { abort: 'interrupted', diskOverBytes: 1 })).toEqual(kill('interrupted'));
    expect(after(1, { abort: 'cancelled' })).toEqual(kill('cancelled'));
  });

  it('names the clock that ran out first when several did between two looks', () => {
    const timeouts = { startupSilence: 5, stall: 600, turn: 5.5, total: 1800, wall: 6 };
    expect(after(10, { timeouts })).toEqual(kill('startup_silence'));
    expect(after(10, { timeouts: { ...timeouts, turn: 4 } })).toEqual(kill('turn_deadline'));
    expect(after(10, { timeouts: { ...timeouts, wall: 3 } })).toEqual(kill('wall_deadline'));
  });

  it('names silence when it and the turn run out together', () => {
    const timeouts = { ...running.timeouts, startupSilence: 180, turn: 180 };
    expect(after(180, { timeouts })).toEqual(kill('startup_silence'));
  });

  const seconds = fc.double({ min: 0.1, max: 5000, noNaN: true });
  const states = fc.record({
    timeouts: fc.record({
      startupSilence: seconds,
      stall: seconds,
      turn: seconds,
      total: seconds,
      wall: seconds,
    }),
    spentMs: fc.integer({ min: 0, max: 4_000_000 }),
    progress: fc.option(seconds),
    heldMs: fc.integer({ min: 0, max: 100_000 }),
  });

  it('never waits beyond the poll or past a clock, and a kill stays a kill', () => {
    fc.assert(
      fc.property(states, seconds, ({ timeouts, spentMs, progress, heldMs }, at) => {
        const state = {
          ...running,
          timeouts,
          spentMs,
          heldMs,
          lastProgressAt: progress === null ? null : running.startedAt + Math.min(progress, at) * 1000,
        };
        const now = running.startedAt + at * 1000;
        const action = watch(now, state);
        if (action.kind === 'kill') {
          expect(watch(now + 60_000, state)).toEqual(action);
          return;
        }
        expect(action.ms).toBeGreaterThan(0);
        expect(action.ms).toBeLessThanOrEqual(POLL_MS);
        const bound = turnBound(timeouts.turn, timeouts.total, spentMs) * 1000 + heldMs;
        expect(now + action.ms).toBeLessThanOrEqual(running.startedAt + bound + 1e-3);
      }),
    );
  });

  it('ends every turn in the end', () => {
    fc.assert(
      fc.property(states, ({ timeouts, spentMs, heldMs }) => {
        const latest = running.startedAt + 5_000_000 + 200_000;
        const state = { ...running, timeouts, spentMs, heldMs, lastProgressAt: latest };
        expect(watch(latest, state).kind).toBe('kill');
      }),
    );
  });
});
