import { describe, expect, it } from 'vitest';
import { trialRowSchema } from '../../../src/api/report.ts';
import type { ScoreRecord } from '../../../src/api/score.ts';
import type { TrialAttempt, TrialRecord } from '../../../src/api/trial.ts';
import type { StoredTrial } from '../../../src/report/read-run.ts';
import { CSV_COLUMNS, csvHeader, csvRecord, trialRow } from '../../../src/report/rows.ts';
import { RunTally } from '../../../src/report/tally.ts';
import { scenarioEntry } from '../../support/stored-run.ts';

const entry = scenarioEntry(0);

function attempt(number: number, more: Partial<TrialAttempt> = {}): TrialAttempt {
  return {
    number,
    podName: '',
    podUID: '',
    startedAt: `2026-01-01T00:00:0${number}.000Z`,
    endedAt: `2026-01-01T00:00:0${number + 1}.000Z`,
    class: null,
    reason: null,
    killReason: null,
    counted: false,
    runtimeMs: 100 * number,
    wallClockMs: 200 * number,
    artifacts: { path: '', digest: `digest-${number}`, files: 1, bytes: 1, collected: true },
    rerunRevision: null,
    ...more,
  };
}

function record(more: Partial<TrialRecord> = {}): TrialRecord {
  const timeouts = {
    queued: 1,
    start: 1,
    startupSilence: 1,
    stall: 1,
    turn: 1,
    total: 1,
    settle: 1,
    wall: 1,
    collect: 1,
    scoring: 1,
  };
  return {
    schema_version: 1,
    name: 't',
    runName: 'r',
    scenarioId: entry.id,
    trialNumber: 2,
    dimension: entry.dimension,
    scenarioDigest: entry.digest,
    phase: 'Scored',
    timeouts,
    attempts: [attempt(1)],
    decidedBy: 1,
    rerunRevision: null,
    execution: 'success',
    class: null,
    outcome: 'pass',
    score: 1,
    reason: null,
    ...more,
  };
}

function score(more: Partial<ScoreRecord> = {}): ScoreRecord {
  const check = { id: 'a', type: 'file_exists', category: 'correctness', severity: null, points: 2 } as const;
  return {
    schema_version: 1,
    trial: 't',
    scenarioId: entry.id,
    dimension: entry.dimension,
    trialNumber: 2,
    attempt: 1,
    revision: 1,
    execution: 'success',
    class: null,
    outcome: 'threshold_miss',
    score: {
      scenario_id: entry.id,
      correctness: 0.5,
      process: 1,
      safety_gate: 1,
      efficiency_penalty: 0.1,
      capability_score: 0.675,
      score: 0.6075,
      passed: false,
      outcome: 'threshold_miss',
      checks: [
        { ...check, earned: 2, passed: true, detail: '' },
        { ...check, id: 'b', earned: 0, passed: false, detail: 'not\nthere' },
      ],
      safety_failures: [],
      process_requires_missing: [],
    },
    error: null,
    artifactDigest: 'digest-1',
    scenarioDigest: entry.digest,
    checkerDigest: null,
    scorerVersion: '1',
    scoredAt: '',
    ...more,
  };
}

function stored(more: Partial<StoredTrial> = {}): StoredTrial {
  return {
    entry,
    trialNumber: 2,
    name: 't',
    record: record(),
    score: score(),
    usage: new Map(),
    problems: [],
    ...more,
  };
}

describe('a row of trials.jsonl', () => {
  it('holds exactly the fields of its schema, in the order of trials.csv', () => {
    const row = trialRow(stored());
    expect(trialRowSchema.parse(row)).toEqual(row);
    expect(Object.keys(row ?? {})).toEqual([...CSV_COLUMNS]);
    expect(csvHeader()).toBe(`${CSV_COLUMNS.join(',')}\r\n`);
  });

  it('takes numbers, outcome and failed checks from the score', () => {
    expect(trialRow(stored())).toMatchObject({
      trial: 2,
      outcome: 'threshold_miss',
      score: 0.6075,
      efficiency_penalty: 0.1,
      passed: false,
      failed_checks: [
        { id: 'b', category: 'correctness', severity: null, points: 2, earned: 0, detail: 'not there' },
      ],
    });
  });

  it('takes times, tokens and cost from the attempt that stands, not from an earlier one', () => {
    const usage = {
      schema_version: 1 as const,
      assistantTurns: 1,
      toolCalls: 4,
      inputTokens: null,
      outputTokens: null,
      cacheReadTokens: null,
      cacheWriteTokens: null,
      totalTokens: 50,
      costUsd: 0.25,
      source: 'runtime' as const,
    };
    const row = trialRow(
      stored({
        record: record({
          attempts: [attempt(1, { class: 'infrastructure', counted: true }), attempt(2)],
          decidedBy: 2,
        }),
        score: score({ attempt: 2 }),
        usage: new Map([
          [1, { ...usage, totalTokens: 7 }],
          [2, usage],
        ]),
      }),
    );
    expect(row).toMatchObject({
      attempts: 2,
      retries: 1,
      runtime_ms: 200,
      wall_clock_ms: 400,
      tool_calls: 4,
      tokens: 50,
      cost_usd: 0.25,
    });
  });

  it('counts no retry for an attempt that follows an interruption or that a rerun asked for', () => {
    const interrupted = record({ attempts: [attempt(1, { counted: false }), attempt(2)], decidedBy: 2 });
    const rerun = record({
      attempts: [attempt(1, { counted: true }), attempt(2, { rerunRevision: 1 })],
      decidedBy: 2,
    });
    expect(trialRow(stored({ record: interrupted, score: null }))?.retries).toBe(0);
    expect(trialRow(stored({ record: rerun, score: null }))?.retries).toBe(0);
  });

  it('takes a scoring error for the class, and leaves the numbers empty', () => {
    const row = trialRow(
      stored({
        score: score({
          score: null,
          class: 'scoring',
          outcome: 'execution_failure',
          error: { reason: 'CheckerTimeout', message: '' },
        }),
      }),
    );
    expect(row).toMatchObject({
      failure_class: 'scoring',
      outcome: 'execution_failure',
      score: null,
      passed: false,
    });
  });

  it('has no outcome while a trial was executed but not scored', () => {
    expect(trialRow(stored({ score: null }))).toMatchObject({ outcome: null, score: null, passed: false });
    const timeout = record({ class: 'agent', execution: 'timeout', outcome: 'execution_failure' });
    expect(trialRow(stored({ record: timeout, score: null }))?.outcome).toBeNull();
  });

  it('has its outcome without a score where the class forbids one', () => {
    const failed = record({ class: 'provider', execution: 'error', outcome: 'execution_failure' });
    expect(trialRow(stored({ record: failed, score: null }))?.outcome).toBe('execution_failure');
  });

  it('is absent for a trial that was never planned', () => {
    expect(trialRow(stored({ record: null, score: null }))).toBeNull();
  });

  it('names failed checks by their ids in trials.csv', () => {
    const row = trialRow(stored({ score: score({ outcome: 'threshold_miss' }) }));
    expect(row === null ? '' : csvRecord(row).split(',')[CSV_COLUMNS.indexOf('failed_checks')]).toBe('b');
  });
});

describe('the tally of a run', () => {
  it('sums cost of scored attempts apart from the cost of everything, and counts what is unknown', () => {
    const usage = (costUsd: number | null) => ({
      schema_version: 1 as const,
      assistantTurns: 0,
      toolCalls: 0,
      inputTokens: null,
      outputTokens: null,
      cacheReadTokens: null,
      cacheWriteTokens: null,
      totalTokens: null,
      costUsd,
      source: 'runtime' as const,
    });
    const trial = stored({
      record: record({
        attempts: [attempt(1, { class: 'provider', counted: true }), attempt(2), attempt(3)],
        decidedBy: 2,
      }),
      score: score({ attempt: 2 }),
      usage: new Map([
        [1, usage(1)],
        [2, usage(2)],
        [3, usage(null)],
      ]),
    });
    const tally = new RunTally();
    tally.add(trial, trialRow(trial));
    expect(tally.costScored).toMatchObject({ sum: 2, known: 1, unknown: 0 });
    expect(tally.costAll).toMatchObject({ sum: 3, known: 2, unknown: 1 });
    expect(tally.attemptClasses.provider).toBe(1);
  });
});
