import { describe, expect, it } from 'vitest';
import {
  advance,
  duration,
  NO_PROGRESS,
  plainLine,
  progressLine,
  secondsLeft,
  type RunEvent,
} from '../../../src/local/progress.ts';

const started: RunEvent = { kind: 'run-started', trials: 36, finished: 6, root: 'results' };
const attempt: RunEvent = { kind: 'attempt-started', scenarioId: 'a', trialNumber: 1, attempt: 1 };
const passed: RunEvent = {
  kind: 'trial-ended',
  scenarioId: 'a',
  trialNumber: 1,
  outcome: 'pass',
  score: 1,
  reason: null,
};
const failed: RunEvent = {
  kind: 'trial-ended',
  scenarioId: 'b',
  trialNumber: 2,
  outcome: 'execution_failure',
  score: null,
  reason: 'DiskFull',
};

const after = (...events: RunEvent[]) => events.reduce(advance, NO_PROGRESS);

describe('progress', () => {
  it('counts what runs and what ended', () => {
    const state = after(started, attempt, attempt, attempt, passed, failed);
    expect(state).toEqual({
      trials: 36,
      finishedBefore: 6,
      ended: 2,
      running: 1,
      outcomes: { pass: 1, execution_failure: 1 },
    });
  });

  it('takes an attempt in back-off out of the running ones', () => {
    const retried: RunEvent = {
      kind: 'attempt-retried',
      scenarioId: 'a',
      trialNumber: 1,
      attempt: 1,
      reason: 'ShimMissing',
      delaySeconds: 10,
    };
    expect(after(started, attempt, retried).running).toBe(0);
  });

  it('judges the time left by this invocation alone, not by trials finished before', () => {
    expect(secondsLeft(after(started), 10)).toBeNull();
    expect(secondsLeft(after(started, attempt, passed), 10)).toBe(290);
  });

  it('shows bar, counts and time left, and fits the width', () => {
    const state = after(started, attempt, attempt, attempt, passed, failed);
    expect(progressLine(state, 20, 100)).toBe(
      '[####----------------] 8/36  pass 1  failed 1  1 running  about 5 min left',
    );
    expect(progressLine(state, 20, 40)).toHaveLength(39);
  });

  it('writes one plain line for each trial, with its reason', () => {
    const state = after(started, attempt, failed);
    expect(plainLine(failed, state)).toBe('[7/36] b/2: execution_failure (DiskFull)');
    expect(plainLine(passed, state)).toBe('[7/36] a/1: pass 1.0000');
    expect(plainLine(started, state)).toBe('36 trials into results, 6 of them already finished');
  });

  it('says durations in the unit that people think in', () => {
    expect([0.2, 40, 200, 7500].map(duration)).toEqual(['1 s', '40 s', '3 min', '2 h 5 min']);
  });
});
