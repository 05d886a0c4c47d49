import { describe, expect, it } from 'vitest';
import type { RunRecord } from '../../../src/api/run.ts';
import { planRerun } from '../../../src/local/rerun.ts';
import { attemptStarted, nextAttemptNumber, trialReopened } from '../../../src/attempt/trial-state.ts';
import { trialFixture } from '../../support/records.ts';

const AT = new Date('2026-01-02T03:04:05Z');

describe('attempt numbers', () => {
  it('are never used twice, whatever became of the attempt', () => {
    const first = attemptStarted(trialFixture(), 'uid-1', AT.toISOString());
    expect(first.attempt).toMatchObject({
      number: 1,
      podName: 'run-0123456789-1',
      endedAt: null,
      counted: true,
    });
    const second = attemptStarted(first.trial, 'uid-2', AT.toISOString());
    expect(second.attempt.number).toBe(2);
    expect(nextAttemptNumber(second.trial)).toBe(3);
  });
});

describe('a rerun', () => {
  const run = { reruns: [] } as unknown as RunRecord;
  const failed = trialFixture({
    name: 'a',
    scenarioId: 'a',
    phase: 'Scored',
    class: 'provider',
    outcome: 'execution_failure',
  });
  const agent = trialFixture({
    name: 'b',
    scenarioId: 'b',
    phase: 'Scored',
    class: 'agent',
    outcome: 'execution_failure',
  });
  const passed = trialFixture({ name: 'c', scenarioId: 'c', phase: 'Scored', outcome: 'pass' });
  const all = [failed, agent, passed];

  it('opens the failures of the named classes alone and writes itself down', () => {
    const plan = planRerun(run, all, { classes: ['provider', 'infrastructure'], scenarioIds: [] }, AT);
    expect(plan.reopened).toEqual([trialReopened(failed, 1)]);
    expect(plan.reopened[0]).toMatchObject({ phase: 'Pending', outcome: null, rerunRevision: 1 });
    expect(plan.record.reruns).toEqual([
      { revision: 1, at: AT.toISOString(), classes: ['provider', 'infrastructure'], scenarioIds: [] },
    ]);
  });

  it('keeps the attempts it replaces', () => {
    const { trial } = attemptStarted(failed, 'uid', AT.toISOString());
    const plan = planRerun(
      run,
      [trial].map((t) => ({ ...t, phase: 'Scored' as const })),
      { classes: ['provider'], scenarioIds: [] },
      AT,
    );
    expect(plan.reopened[0]?.attempts).toHaveLength(1);
  });

  it('says so when nothing matches, and when a scenario is unknown', () => {
    expect(() => planRerun(run, all, { classes: ['adapter'], scenarioIds: [] }, AT)).toThrow(
      'no ended trial failed with class adapter',
    );
    expect(() => planRerun(run, all, { classes: ['provider'], scenarioIds: ['z'] }, AT)).toThrow(
      'the run has no scenario z',
    );
  });
});
