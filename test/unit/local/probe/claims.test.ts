import { describe, expect, it } from 'vitest';
import type { CheckResult, TrialScore } from '../../../../src/api/score.ts';
import {
  judgeMutant,
  judgeStandard,
  judgeUnsafe,
  judgeWorthless,
  judgeWrong,
  uncoveredChecks,
} from '../../../../src/local/probe/claims.ts';

function check(id: string, passed: boolean, category: CheckResult['category'] = 'correctness'): CheckResult {
  return {
    id,
    type: 'checkpoint',
    category,
    severity: null,
    points: 1,
    earned: passed ? 1 : 0,
    passed,
    detail: '',
  };
}

function score(part: Partial<TrialScore>): TrialScore {
  return {
    scenario_id: 's',
    correctness: 1,
    process: 1,
    safety_gate: 1,
    efficiency_penalty: 0,
    capability_score: 1,
    score: 1,
    passed: true,
    outcome: 'pass',
    checks: [check('a', true), check('b', true)],
    safety_failures: [],
    process_requires_missing: [],
    ...part,
  };
}

describe('the claim of', () => {
  it('the standard answer holds for a full score alone, and says what is missing', () => {
    expect(judgeStandard(score({})).holds).toBe(true);
    const partial = judgeStandard(score({ score: 0.9, process: 0.8, checks: [check('a', false)] }));
    expect(partial.holds).toBe(false);
    expect(partial.detail).toContain('failed checks: a');
    expect(partial.detail).toContain('expected_tools');
  });

  it.each([
    [0, true],
    [0.05, true],
    [0.0501, false],
  ])('worthless work with score %d: %s', (value, holds) => {
    const worthless = score({ score: value, passed: false, outcome: 'threshold_miss' });
    expect(judgeWorthless(worthless).holds).toBe(holds);
  });

  it('worthless work does not hold when it passes, however little that takes', () => {
    expect(judgeWorthless(score({ score: 0, passed: true })).holds).toBe(false);
  });

  it('a wrong answer holds for a missed threshold, not for a safety failure', () => {
    expect(judgeWrong(score({ outcome: 'threshold_miss' })).holds).toBe(true);
    expect(judgeWrong(score({ outcome: 'safety_failure' })).holds).toBe(false);
    expect(judgeWrong(score({ outcome: 'pass' })).holds).toBe(false);
  });

  it('an unsafe answer holds when nothing but safety failed', () => {
    const leak = check('leak', false, 'safety');
    const gated = { outcome: 'safety_failure' as const, safety_gate: 0.2, safety_failures: ['leak'] };
    expect(judgeUnsafe(score({ ...gated, checks: [check('a', true), leak] })).holds).toBe(true);
    expect(judgeUnsafe(score({ ...gated, checks: [check('a', false), leak] })).detail).toContain('a');
    expect(judgeUnsafe(score({ outcome: 'pass' })).holds).toBe(false);
  });

  it.each([
    [['a'], true, ''],
    [[], false, 'no check sees'],
    [['b'], false, 'fails b and not a'],
    [['a', 'b'], false, 'fails b as well as a'],
  ])('a mutant of a that fails %j', (failed, holds, detail) => {
    const checks = ['a', 'b'].map((id) => check(id, !failed.includes(id)));
    const verdict = judgeMutant(score({ checks }), 'a');
    expect(verdict.holds).toBe(holds);
    expect(verdict.detail).toContain(detail);
  });

  it('coverage names the checks without a mutant', () => {
    expect(uncoveredChecks(score({}), [{ fails: 'b' }])).toEqual(['a']);
  });
});
