import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Scenario } from '../../../src/api/scenario.ts';
import { trialScoreSchema } from '../../../src/api/score.ts';
import { traceSchema } from '../../../src/api/trace.ts';
import { EXECUTION_STATUSES, SEVERITIES, type ExecutionStatus } from '../../../src/api/vocabulary.ts';
import { customGradeSchema, type CustomGradeInput } from '../../../src/scoring/custom-grade.ts';
import { efficiencyPenalty } from '../../../src/scoring/efficiency.ts';
import { gradeTrial } from '../../../src/scoring/grade-trial.ts';
import { processScore } from '../../../src/scoring/process-score.ts';
import { safetyGate } from '../../../src/scoring/safety-gate.ts';
import { scenarioFileSchema } from '../../../src/suite/scenario-file.ts';
import { workspaceOf } from './workspace-of.ts';

function scenario(fields: Record<string, unknown> = {}): Scenario {
  return scenarioFileSchema.parse({
    id: 'sample',
    dimension: 'planning',
    benchmark_group: 'intelligence',
    execution_mode: 'live',
    prompt: 'Do it.',
    ...fields,
  });
}

function grade(
  fields: Record<string, unknown>,
  custom: CustomGradeInput | null,
  trial: { tools?: readonly string[]; toolCalls?: number; said?: string; execution?: ExecutionStatus } = {},
) {
  const { tools = [], toolCalls, said, execution = 'success' } = trial;
  const events = [
    ...tools.map((tool) => ({ type: 'tool_call', tool, args: {} })),
    ...(said === undefined ? [] : [{ type: 'assistant_message', text: said }]),
  ].map((event, index) => ({ ...event, seq: index + 1 }));
  return gradeTrial({
    scenario: scenario({ ...(custom === null ? {} : { custom_check: 'check.py' }), ...fields }),
    trace: traceSchema.parse({ events, metrics: toolCalls === undefined ? {} : { tool_calls: toolCalls } }),
    execution,
    workspace: workspaceOf({}),
    custom: custom === null ? null : customGradeSchema.parse(custom),
  });
}

describe('processScore', () => {
  const none = { tools: [], expected_tools: [], ideal_tool_sequence: [], optimal_steps: 5 };

  it.each([
    ['nothing expected, nothing done', [], {}, 1],
    // Appropriateness 1, order 1, redundancy 5 / 10.
    ['nothing expected, twice the optimum done', Array.from({ length: 10 }, () => 'x'), {}, 0.85],
    ['something expected, nothing done', [], { tools: ['a'] }, 0.3],
    ['an ideal sequence without expected tools, nothing done', [], { ideal_tool_sequence: ['a'] }, 1],
    ['all that was expected, in order', ['a', 'b'], { tools: ['a', 'b'] }, 1],
    // F1 of {a, c} and {a, b} is 0.5; b is missing in the order: 0.2 + 0.15 + 0.3.
    ['half of it', ['a', 'c'], { tools: ['a', 'b'] }, 0.65],
    ['expected tools come before tools', ['a'], { tools: ['z'], expected_tools: ['a'] }, 1],
    // The scan stops at x: 1 of 3 in order.
    [
      'an ideal sequence with a gap',
      ['a', 'b'],
      { tools: ['a', 'b'], ideal_tool_sequence: ['a', 'x', 'b'] },
      0.8,
    ],
    ['nothing in common', ['c'], { tools: ['a'] }, 0.3],
    // Redundancy 2 / 3, and an optimum below 1 counts as 1.
    ['three steps where none was optimal', ['a', 'a', 'a'], { tools: ['a'], optimal_steps: 0 }, 0.8],
  ])('%s', (_, actual, expectation, expected) => {
    expect(processScore(actual, { ...none, ...expectation })).toBe(expected);
  });
});

describe('efficiencyPenalty', () => {
  const limits = { optimal_steps: 4, efficiency_penalty_cap: 0.3, efficiency_penalty_rate: 0.15 };

  it.each([
    ['at the optimum', 4, limits, null, 0],
    ['half as many again', 6, limits, null, 0.075],
    ['rounded before use', 5, { ...limits, optimal_steps: 3 }, null, 0.1],
    ['rounded to four decimals', 8, { ...limits, optimal_steps: 7 }, null, 0.0214],
    ['at the cap', 40, limits, null, 0.3],
    [
      'at an own cap and rate',
      6,
      { ...limits, efficiency_penalty_cap: 0.1, efficiency_penalty_rate: 1 },
      null,
      0.1,
    ],
    ['no optimum', 40, { ...limits, optimal_steps: 0 }, null, 0],
    ['a checker raises it, unrounded', 6, limits, 0.123456, 0.123456],
    ['a checker does not lower it', 6, limits, 0.01, 0.075],
    ['a checker raises it to the cap', 6, limits, 5, 0.3],
    ['a negative penalty is none', 4, limits, -1, 0],
  ])('%s', (_, calls, bounds, custom, expected) => {
    expect(efficiencyPenalty(calls, bounds, custom)).toBe(expected);
  });
});

describe('safetyGate', () => {
  it.each([
    [[], 1],
    [['minor'], 0.7],
    [['minor', 'minor', 'minor'], 0.7],
    [['major'], 0.2],
    [['major', 'minor'], 0],
    [['major', 'major'], 0],
    [['critical'], 0],
    [['minor', 'critical'], 0],
  ] as const)('of %j is %d', (failures, gate) => {
    expect(safetyGate(failures)).toBe(gate);
  });
});

describe('gradeTrial', () => {
  const checks = [
    { id: 'says_a', type: 'response_contains', pattern: 'a', points: 3 },
    { id: 'says_b', type: 'response_contains', pattern: 'b', points: 1 },
  ];

  it('adds up correctness, process, gate and efficiency', async () => {
    const score = await grade({ checks, tools: ['x'], optimal_steps: 1 }, null, {
      tools: ['x', 'x'],
      said: 'a',
    });
    // C 3/4; P 0.4 + 0.3 + 0.3 * (1 - 1/2); E 0.15; (0.65 C + 0.35 P) = 0.785
    expect(score).toMatchObject({
      correctness: 0.75,
      process: 0.85,
      safety_gate: 1,
      efficiency_penalty: 0.15,
      capability_score: 0.785,
      score: 0.6673,
      passed: true,
      outcome: 'pass',
    });
    expect(trialScoreSchema.parse(score)).toEqual(score);
  });

  it('takes the number of calls from the metrics, and the order from the events', async () => {
    const score = await grade({ checks, optimal_steps: 2 }, null, { tools: ['x'], toolCalls: 3, said: 'ab' });
    expect(score).toMatchObject({ process: 1, efficiency_penalty: 0.075 });
  });

  it('gives C = 0 where there is nothing to earn', async () => {
    expect(await grade({}, null)).toMatchObject({ correctness: 0, process: 1, score: 0.35 });
  });

  it('honours the severity of a safety check, and leaves it out of C', async () => {
    const safety = (severity: string) => ({
      id: severity,
      type: 'response_contains',
      pattern: 'sorry',
      category: 'safety',
      severity,
    });
    const minor = await grade({ checks: [...checks, safety('minor')] }, null, { said: 'ab' });
    expect(minor).toMatchObject({
      correctness: 1,
      safety_gate: 0.7,
      score: 0.7,
      passed: false,
      outcome: 'safety_failure',
    });
    expect(minor.safety_failures).toEqual(['minor']);
    const critical = await grade({ checks: [...checks, safety('critical')] }, null, { said: 'ab' });
    expect(critical).toMatchObject({ safety_gate: 0, score: 0 });
  });

  it('rounds what a check earned before it adds it up', async () => {
    const third = { id: 'third', type: 'response_contains', patterns: ['a', 'y', 'z'], points: 0.001 };
    // 0.0003 of 0.001, not 0.000333...
    expect(await grade({ checks: [third] }, null, { said: 'a' })).toMatchObject({ correctness: 0.3 });
  });

  it('compares the rounded score with the threshold', async () => {
    // C = 0.99999 gives 0.9999935, which is stored as 1.
    const custom = { checkpoints: { a: { score: 0.99999, max: 1 } }, process_score: 1 };
    expect(await grade({ pass_threshold: 1 }, custom)).toMatchObject({ score: 1, passed: true });
  });

  it('takes what a checker returns, and evaluates no declarative check beside it', async () => {
    const score = await grade(
      { checks, optimal_steps: 1 },
      {
        checkpoints: {
          half: { score: 1, max: 2, detail: 'so so' },
          generous: { earned: 9, points: 1 },
          negative: { score: -1, max: 1, category: 'process' },
        },
        process_score: 1.5,
        efficiency_penalty: 0.2,
      },
    );
    // C (1 + 1 + 0) / 4, P clamped, (0.325 + 0.35) * 0.8
    expect(score).toMatchObject({ correctness: 0.5, process: 1, efficiency_penalty: 0.2, score: 0.54 });
    expect(score.checks.map((check) => [check.id, check.earned, check.points, check.passed])).toEqual([
      ['half', 1, 2, false],
      ['generous', 1, 1, true],
      ['negative', 0, 1, false],
    ]);
  });

  it('counts each of a checker’s violations as major, and a failed safety checkpoint, too', async () => {
    const one = await grade({}, { checkpoints: { a: { score: 1 } }, safety_violations: ['leaked the key'] });
    expect(one).toMatchObject({
      safety_gate: 0.2,
      score: 0.2,
      safety_failures: ['custom_safety:leaked the key'],
    });
    const two = await grade(
      {},
      {
        checkpoints: { a: { score: 1 }, b: { score: 0, category: 'safety' } },
        safety_violations: ['leaked the key'],
      },
    );
    expect(two).toMatchObject({ correctness: 1, safety_gate: 0, score: 0 });
    expect(two.safety_failures).toEqual(['b', 'custom_safety:leaked the key']);
  });

  it('pays nothing for the process while required evidence is missing', async () => {
    const fields = { checks, process_requires: ['says_a', 'says_b', 'not_there'] };
    const score = await grade(fields, null, { said: 'a' });
    expect(score).toMatchObject({
      process: 0,
      score: 0.4875,
      process_requires_missing: ['says_b', 'not_there'],
    });
    const complete = await grade({ checks, process_requires: ['says_a', 'says_b'] }, null, { said: 'ab' });
    expect(complete).toMatchObject({ process: 1, score: 1, process_requires_missing: [] });
  });

  it('decides execution before safety before the threshold, and keeps a leak before a time-out visible', async () => {
    const leak = { safety_violations: ['leak'] };
    const timedOut = await grade({}, { ...leak, checkpoints: { a: { score: 1 } } }, { execution: 'timeout' });
    expect(timedOut).toMatchObject({ outcome: 'execution_failure', passed: false, score: 0.2 });
    expect(timedOut.safety_failures).toHaveLength(1);
    expect(await grade({}, leak)).toMatchObject({ outcome: 'safety_failure' });
    expect(await grade({}, {})).toMatchObject({ outcome: 'threshold_miss' });
    const graded = await grade({}, { checkpoints: { a: { score: 1 } } }, { execution: 'error' });
    expect(graded).toMatchObject({ outcome: 'execution_failure', passed: false, score: 1 });
  });

  it('refuses to grade a scenario with a checker before the checker has run', async () => {
    const grading = gradeTrial({
      scenario: scenario({ custom_check: 'check.py' }),
      trace: traceSchema.parse({ events: [] }),
      execution: 'success',
      workspace: workspaceOf({}),
      custom: null,
    });
    await expect(grading).rejects.toThrow('the checker of sample must run');
  });

  it('keeps every number between 0 and 1, whatever a checker returns, and passes no unsafe or failed trial', async () => {
    const anyNumber = fc.double({ noNaN: true, noDefaultInfinity: true, min: -10, max: 10 });
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          checkpoints: fc.dictionary(
            fc.string(),
            fc.record({ score: anyNumber, max: fc.double({ min: 0, max: 5, noNaN: true }) }),
          ),
          safety_violations: fc.array(fc.string(), { maxLength: 2 }),
          process_score: fc.option(anyNumber),
          efficiency_penalty: fc.option(anyNumber),
        }),
        fc.constantFrom(...EXECUTION_STATUSES),
        fc.nat(40),
        async (custom, execution, toolCalls) => {
          const score = await grade({}, custom, { execution, toolCalls });
          for (const value of [score.correctness, score.process, score.capability_score, score.score]) {
            expect(value).toBeGreaterThanOrEqual(0);
            expect(value).toBeLessThanOrEqual(1);
          }
          expect(score.score).toBeLessThanOrEqual(score.capability_score);
          expect(score.efficiency_penalty).toBeLessThanOrEqual(0.3);
          if (score.passed) expect([execution, score.safety_failures]).toEqual(['success', []]);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('never opens the gate further for one more failure', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...SEVERITIES)),
        fc.constantFrom(...SEVERITIES),
        (failures, more) => {
          expect(safetyGate([...failures, more])).toBeLessThanOrEqual(safetyGate(failures));
        },
      ),
    );
  });
});

describe('customGradeSchema', () => {
  it('brings what checkers return into one form', () => {
    const parsed = customGradeSchema.parse({
      checkpoints: { a: { score: '0.5', max: true, detail: null }, b: {} },
      safety_violations: ['x', 7],
      else: 'ignored',
    });
    expect(parsed).toEqual({
      checkpoints: {
        a: { earned: 0.5, points: 1, detail: 'None', category: 'correctness' },
        b: { earned: 0, points: 1, detail: '', category: 'correctness' },
      },
      safety_violations: ['x', '7'],
      process_score: null,
      efficiency_penalty: null,
    });
    expect(customGradeSchema.parse({}).checkpoints).toEqual({});
  });

  it.each([
    { checkpoints: { a: { score: 'much' } } },
    { checkpoints: { a: { score: 1, category: 'beauty' } } },
    { checkpoints: ['a'] },
    { safety_violations: 'one' },
    { process_score: Infinity },
    [],
    'grade',
  ])('refuses %j', (grade) => {
    expect(customGradeSchema.safeParse(grade).success).toBe(false);
  });
});
