import { describe, expect, it } from 'vitest';
import type { AttemptResult, Observation } from '../../../src/api/attempt.ts';
import { retrySpecSchema } from '../../../src/api/benchmark-run.ts';
import type { ScoreRecord } from '../../../src/api/score.ts';
import type { TrialAttempt, TrialRecord } from '../../../src/api/trial.ts';
import type { RunEvent } from '../../../src/local/progress.ts';
import { runSchedule, type EarlyStop, type ScheduleWorld } from '../../../src/local/schedule.ts';
import { trialFixture } from '../../support/records.ts';

const NO_WAIT = retrySpecSchema.parse({ backoffSeconds: 0 });

const orderly = (
  trial: TrialRecord,
  attempt: TrialAttempt,
  over: Partial<AttemptResult> = {},
): AttemptResult => ({
  schema_version: 1,
  trial: trial.name,
  attempt: attempt.number,
  podUID: attempt.podUID,
  startedAt: attempt.startedAt,
  endedAt: attempt.startedAt,
  observations: [{ kind: 'agent_exit', code: 0, signal: null }],
  killReason: null,
  exitCode: 0,
  signal: null,
  oomKills: 0,
  turns: 1,
  completion: { completed: true, signal: 'stop_reason', reason: 'stop', conflict: false },
  runtimeMs: 1,
  wallClockMs: 1,
  collected: true,
  manifestDigest: 'd',
  isolation: 'none',
  ...over,
});

const shimMissing: Observation = { kind: 'shim_missing', message: 'it never came' };

const scored = (trial: TrialRecord): ScoreRecord => ({
  schema_version: 1,
  trial: trial.name,
  scenarioId: trial.scenarioId,
  dimension: trial.dimension,
  trialNumber: trial.trialNumber,
  attempt: trial.decidedBy ?? 0,
  revision: 1,
  execution: trial.execution ?? 'error',
  class: trial.class,
  outcome: trial.class === null ? 'pass' : 'execution_failure',
  score: null,
  error: null,
  artifactDigest: null,
  scenarioDigest: 'd',
  checkerDigest: null,
  scorerVersion: '1',
  scoredAt: '2026-01-01T00:00:00.000Z',
});

/** A world in memory: what an attempt does is a function, what was stored and said is kept. */
function world(
  run: (trial: TrialRecord, attempt: TrialAttempt, signal: AbortSignal) => Promise<AttemptResult>,
) {
  const stored = new Map<string, TrialRecord>();
  const events: RunEvent[] = [];
  let running = 0;
  let most = 0;
  const parts: ScheduleWorld = {
    runAttempt: async (trial, attempt, signal) => {
      running += 1;
      most = Math.max(most, running);
      try {
        return await run(trial, attempt, signal);
      } finally {
        running -= 1;
      }
    },
    artifactsOf: () => Promise.resolve(null),
    score: (trial) => Promise.resolve(scored(trial)),
    store: (trial) => {
      stored.set(trial.name, trial);
      return Promise.resolve();
    },
    now: () => new Date(),
    random: () => 0,
    onEvent: (event) => events.push(event),
  };
  return { parts, stored, events, mostAtOnce: () => most };
}

const trials = (count: number): TrialRecord[] =>
  Array.from({ length: count }, (_, i) => trialFixture({ name: `t-${i}`, scenarioId: `s-${i}` }));

const schedule = (
  open: readonly TrialRecord[],
  parts: ScheduleWorld,
  signal = new AbortController().signal,
  retry = NO_WAIT,
): Promise<EarlyStop | null> =>
  runSchedule(open, { parallelism: 3, scoringParallelism: 2, retry, signal }, parts);

describe('the schedule of a run', () => {
  it('runs and scores every trial, no more at once than it may', async () => {
    const { parts, stored, mostAtOnce } = world(async (trial, attempt) => {
      await new Promise((resolve) => setImmediate(resolve));
      return orderly(trial, attempt);
    });
    expect(await schedule(trials(12), parts)).toBeNull();
    expect([...stored.values()].map(({ phase, outcome }) => ({ phase, outcome }))).toEqual(
      Array.from({ length: 12 }, () => ({ phase: 'Scored', outcome: 'pass' })),
    );
    expect(mostAtOnce()).toBe(3);
  });

  it('stores an attempt before it starts', async () => {
    const { parts, stored } = world((trial, attempt) => {
      expect(stored.get(trial.name)?.attempts.at(-1)).toMatchObject({
        podUID: attempt.podUID,
        endedAt: null,
      });
      return Promise.resolve(orderly(trial, attempt));
    });
    await schedule(trials(2), parts);
    expect(stored.size).toBe(2);
  });

  it('retries what was not the agent and keeps every attempt', async () => {
    const { parts, stored, events } = world((trial, attempt) =>
      Promise.resolve(
        attempt.number < 3
          ? orderly(trial, attempt, { observations: [shimMissing], exitCode: null })
          : orderly(trial, attempt),
      ),
    );
    expect(await schedule(trials(1), parts)).toBeNull();
    const trial = stored.get('t-0');
    expect(trial?.attempts.map((attempt) => attempt.class)).toEqual([
      'infrastructure',
      'infrastructure',
      null,
    ]);
    expect(trial).toMatchObject({ outcome: 'pass', decidedBy: 3 });
    expect(events.filter((event) => event.kind === 'attempt-retried')).toHaveLength(2);
  });

  it('gives up after the bound, with the last attempt standing for the trial', async () => {
    const { parts, stored } = world((trial, attempt) =>
      Promise.resolve(orderly(trial, attempt, { observations: [shimMissing], exitCode: null })),
    );
    await schedule(trials(1), parts);
    expect(stored.get('t-0')).toMatchObject({
      outcome: 'execution_failure',
      class: 'infrastructure',
      decidedBy: 3,
    });
  });

  it('never retries what the agent caused', async () => {
    const { parts, stored } = world((trial, attempt) =>
      Promise.resolve(
        orderly(trial, attempt, {
          observations: [{ kind: 'agent_exit', code: 3, signal: null }],
          exitCode: 3,
        }),
      ),
    );
    await schedule(trials(1), parts);
    expect(stored.get('t-0')).toMatchObject({ class: 'agent', decidedBy: 1 });
  });

  it('lets other trials run while one is in back-off', async () => {
    const order: string[] = [];
    const { parts } = world((trial, attempt) => {
      order.push(`${trial.name}/${attempt.number}`);
      const first = trial.name === 't-0' && attempt.number === 1;
      return Promise.resolve(
        orderly(trial, attempt, first ? { observations: [shimMissing], exitCode: null } : {}),
      );
    });
    const retry = retrySpecSchema.parse({ backoffSeconds: 0.05 });
    await runSchedule(
      trials(3),
      { parallelism: 1, scoringParallelism: 1, retry, signal: new AbortController().signal },
      parts,
    );
    expect(order).toEqual(['t-0/1', 't-1/1', 't-2/1', 't-0/2']);
  });

  it('stops starting attempts when the breaker trips, and leaves the rest open', async () => {
    const { parts, stored } = world((trial, attempt) =>
      Promise.resolve(orderly(trial, attempt, { observations: [shimMissing], exitCode: null })),
    );
    const stop = await schedule(trials(30), parts);
    expect(stop).toMatchObject({ kind: 'breaker' });
    expect(stored.size).toBeLessThan(15);
  });

  it('ends running attempts on an interrupt; their numbers are spent but not counted', async () => {
    const interrupt = new AbortController();
    const { parts, stored } = world(async (trial, attempt, signal) => {
      interrupt.abort();
      expect(signal.aborted).toBe(true);
      return Promise.resolve(
        orderly(trial, attempt, {
          observations: [{ kind: 'interrupted', message: 'the run was interrupted' }],
          killReason: 'interrupted',
          exitCode: null,
          signal: 'SIGTERM',
        }),
      );
    });
    expect(await schedule(trials(5), parts, interrupt.signal)).toEqual({ kind: 'interrupted' });
    expect(stored.size).toBe(3);
    for (const trial of stored.values()) {
      expect(trial).toMatchObject({
        phase: 'Pending',
        attempts: [{ counted: false, reason: 'Interrupted' }],
      });
    }
  });

  it('stops at a fault of the machine and says which', async () => {
    const full = new Error('no space left');
    const { parts } = world((trial, attempt) => Promise.resolve(orderly(trial, attempt)));
    const failing: ScheduleWorld = { ...parts, store: () => Promise.reject(full) };
    expect(await schedule(trials(4), failing)).toEqual({ kind: 'fault', error: full });
  });

  it('only scores a trial that was executed before', async () => {
    const { parts, stored } = world(() => Promise.reject(new Error('must not run')));
    const executed = trialFixture({ name: 't-0', phase: 'Executed', execution: 'success', decidedBy: 1 });
    expect(await schedule([executed], parts)).toBeNull();
    expect(stored.get('t-0')).toMatchObject({ phase: 'Scored', outcome: 'pass' });
  });
});
