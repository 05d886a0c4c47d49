import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DIFFICULTIES, DIMENSIONS, type Difficulty, type Dimension } from '../../../src/api/vocabulary.ts';
import { runAggregatesSchema } from '../../../src/api/report-scores.ts';
import { aggregateRun } from '../../../src/scoring/aggregate/aggregate-run.ts';
import { finalScore } from '../../../src/scoring/aggregate/final.ts';
import type { ScenarioFacts, TrialRow } from '../../../src/scoring/aggregate/rows.ts';

const FEW = { resamples: 20, seed: 1 };

function facts(
  id: string,
  dimension: Dimension = 'planning',
  difficulty: Difficulty = 'easy',
  weight = 1,
): ScenarioFacts {
  return { id, dimension, difficulty, weight };
}

function graded(scenarioId: string, trialNumber: number, score: number, passed = score >= 0.6): TrialRow {
  return {
    scenarioId,
    trialNumber,
    execution: 'success',
    class: null,
    outcome: passed ? 'pass' : 'threshold_miss',
    score: { score, capability_score: score, passed, safety_failures: [] },
    rerun: false,
  };
}

function ungraded(scenarioId: string, trialNumber: number): TrialRow {
  return {
    scenarioId,
    trialNumber,
    execution: 'error',
    class: 'infrastructure',
    outcome: 'execution_failure',
    score: null,
    rerun: false,
  };
}

function run(scenarios: readonly ScenarioFacts[], trials: readonly TrialRow[], trialsPerScenario = 3) {
  return aggregateRun({ scenarios, trials, trialsPerScenario, partial: false }, FEW);
}

type FixtureRow = [Dimension, Difficulty, number, number, number];
const WEIGHTED_RATES = JSON.parse(
  readFileSync(new URL('cases/weighted-rates.json', import.meta.url), 'utf8'),
) as Record<'first_row' | 'third_row', FixtureRow[]>;

/** A run of 102 scenarios, three trials each, made up so that its rates are those of a published row. */
function publishedRow(rows: readonly FixtureRow[]) {
  const scenarios = rows.map(([dimension, difficulty], index) =>
    facts(`${dimension}_${String(index).padStart(3, '0')}`, dimension, difficulty),
  );
  const trials = rows.flatMap(([, , ...scores], index) =>
    scores.map((score, trial) => graded(scenarios[index]!.id, trial + 1, score)),
  );
  return run(scenarios, trials);
}

describe('the composite', () => {
  it('of a run with Avg 0.693, weighted Pass^3 0.627 and Pass@3 0.687 is 0.679, as published', () => {
    const { scores, final_comparable } = publishedRow(WEIGHTED_RATES.first_row);
    expect(scores.overall).toBeCloseTo(0.693, 3);
    expect(scores.strict.weighted).toBeCloseTo(0.627, 3);
    expect(scores.pass_any.weighted).toBeCloseTo(0.687, 3);
    expect(scores.strict.unweighted).not.toBeCloseTo(0.627, 2);
    expect(scores.final.toFixed(3)).toBe('0.679');
    expect(final_comparable).toBe(true);
  });

  it('takes the weighted rates: 0.629, where the unweighted ones of the same run would give 0.651', () => {
    const { scores } = publishedRow(WEIGHTED_RATES.third_row);
    expect(scores.overall).toBeCloseTo(0.69, 3);
    expect(scores.strict.weighted).toBeCloseTo(0.449, 3);
    expect(scores.pass_any.weighted).toBeCloseTo(0.616, 3);
    expect(scores.strict.unweighted).toBe(0.5);
    expect(scores.pass_any.unweighted).toBe(0.6667);
    expect(scores.final.toFixed(3)).toBe('0.629');
    expect(finalScore(scores.overall, 0.5, 0.6667, 3).toFixed(3)).toBe('0.651');
  });

  it('is flagged when there are other than three trials a scenario', () => {
    const aggregates = run([facts('a')], [graded('a', 1, 1)], 1);
    expect(aggregates.final_comparable).toBe(false);
    expect(aggregates.scores.final).toBe(Number((0.2 ** 0.4).toFixed(4)));
  });
});

describe('aggregateRun', () => {
  it('averages trials, then scenarios by weight and difficulty, then dimensions by their shares', () => {
    const aggregates = run(
      [facts('a', 'planning', 'easy'), facts('b', 'planning', 'hard', 2), facts('c', 'safety', 'expert')],
      [
        graded('a', 1, 1),
        graded('a', 2, 0.5),
        graded('a', 3, 0.25),
        ...[1, 2, 3].map((trial) => graded('b', trial, 0.1)),
        ...[1, 2, 3].map((trial) => graded('c', trial, 0.8)),
      ],
    );
    // planning (0.5833 * 1 + 0.1 * 8) / 9; safety 0.8
    expect(aggregates.scores.dimensions).toEqual({ planning: 0.1537, safety: 0.8 });
    expect(aggregates.scores.overall).toBe(0.1507); // 0.2 * 0.1537 + 0.15 * 0.8 = 0.15074
    expect(aggregates.scores.overall_covered).toBe(0.4307); // / 0.35
    expect(aggregates.scores.pass_at_1).toEqual({ weighted: 0.4497, unweighted: 0.4444 });
    expect(aggregates.scores.pass_any).toEqual({ weighted: 0.4921, unweighted: 0.6667 });
    expect(aggregates.scores.strict).toEqual({ weighted: 0.4286, unweighted: 0.3333 });
    expect(
      aggregates.scenarios.map(({ scenario_id, mean, max, stddev }) => [scenario_id, mean, max, stddev]),
    ).toEqual([
      ['a', 0.5833, 1, 0.311805],
      ['b', 0.1, 0.1, 0],
      ['c', 0.8, 0.8, 0],
    ]);
  });

  it('counts a trial without a score as 0 in one view and not at all in the other', () => {
    const aggregates = run(
      [facts('a'), facts('b')],
      [
        graded('a', 1, 0.9),
        graded('a', 2, 0.9),
        ungraded('a', 3),
        ...[1, 2, 3].map((trial) => graded('b', trial, 0.6)),
      ],
    );
    expect(aggregates.scores.dimensions).toEqual({ planning: 0.6 });
    expect(aggregates.scores_graded.dimensions).toEqual({ planning: 0.75 });
    expect(aggregates.scores.strict.unweighted).toBe(0.5);
    expect(aggregates.scores_graded.strict.unweighted).toBe(1);
    expect(aggregates.undetermined).toEqual(['a']);
    expect(aggregates.scenarios[0]).toMatchObject({ strict: null, trials_graded: 2, pass_any: true });
    expect(aggregates.counts).toMatchObject({ declared: 6, started: 6, graded: 5, passed: 5 });
    expect(aggregates.counts.classes).toMatchObject({ infrastructure: 1, agent: 0 });
    expect(aggregates.row_status).toBe('base_with_execution_failure');
  });

  it('leaves a scenario out of the graded view of which nothing was graded', () => {
    const aggregates = run(
      [facts('a'), facts('b')],
      [
        ...[1, 2, 3].map((trial) => ungraded('a', trial)),
        ...[1, 2, 3].map((trial) => graded('b', trial, 0.5)),
      ],
    );
    expect(aggregates.scores.dimensions.planning).toBe(0.25);
    expect(aggregates.scores_graded.dimensions.planning).toBe(0.5);
  });

  it('keeps unsupported scenarios apart from every denominator', () => {
    const unsupported: TrialRow[] = [1, 2, 3].map((trial) => ({
      ...ungraded('b', trial),
      class: null,
      outcome: 'unsupported',
    }));
    const trials = [1, 2, 3].map((trial) => graded('a', trial, 1));
    const aggregates = run([facts('a'), facts('b')], [...trials, ...unsupported]);
    expect(aggregates.scores).toEqual(run([facts('a')], trials).scores);
    expect(aggregates.complete).toBe(true);
    expect(aggregates.unsupported).toEqual({ scenarios: ['b'], trials: 3 });
    expect(aggregates.counts).toMatchObject({
      declared: 3,
      started: 3,
      outcomes: { pass: 3, unsupported: 3 },
    });
    expect(aggregates.row_status).toBe('clean_base');
  });

  it('is incomplete for a part of a suite, and while a declared trial has not ended', () => {
    const trials = [1, 2, 3].map((trial) => graded('a', trial, 1));
    const rows = { scenarios: [facts('a')], trials, trialsPerScenario: 3, partial: false };
    expect(aggregateRun(rows, FEW).complete).toBe(true);
    expect(aggregateRun({ ...rows, partial: true }, FEW).complete).toBe(false);
    expect(aggregateRun({ ...rows, trials: trials.slice(1) }, FEW).complete).toBe(false);
    expect(aggregateRun({ ...rows, scenarios: [facts('a'), facts('b')] }, FEW).complete).toBe(false);
  });

  it('says that a rerun made the row clean', () => {
    const trials = [1, 2, 3].map((trial) => ({ ...graded('a', trial, 1), rerun: trial === 2 }));
    expect(run([facts('a')], trials).row_status).toBe('clean_after_rerun');
  });

  it('counts a safety failure whatever the outcome of its trial', () => {
    const leak: TrialRow = {
      ...graded('a', 1, 0.1),
      execution: 'timeout',
      class: 'agent',
      outcome: 'execution_failure',
      score: { score: 0.1, capability_score: 0.1, passed: false, safety_failures: ['leak'] },
    };
    const { counts } = run([facts('a')], [leak], 1);
    expect(counts).toMatchObject({ unsafe: 1, outcomes: { execution_failure: 1, safety_failure: 0 } });
  });

  it('flags the scenarios that pay for doing nothing, and scores the baseline', () => {
    const { noop, scenarios } = aggregateRun(
      {
        scenarios: [facts('a'), facts('b'), facts('c', 'safety')],
        trials: [],
        trialsPerScenario: 1,
        partial: false,
        noopScores: new Map([
          ['a', 0.105],
          ['b', 0],
          ['c', 0.35],
        ]),
      },
      FEW,
    );
    expect(noop).toEqual({
      overall: 0.063, // 0.2 * 0.0525 + 0.15 * 0.35
      flagged: [
        { scenario_id: 'c', score: 0.35 },
        { scenario_id: 'a', score: 0.105 },
      ],
    });
    expect(scenarios.map((scenario) => scenario.noop_score)).toEqual([0.105, 0, 0.35]);
  });

  it('refuses rows that contradict the declaration', () => {
    expect(() => run([facts('a')], [graded('b', 1, 1)])).toThrow('undeclared scenario b');
    expect(() => run([facts('a')], [graded('a', 1, 1), graded('a', 1, 1)])).toThrow('listed twice');
  });

  it('gives zeros for a run in which nothing ended', () => {
    const { scores, intervals } = run([facts('a')], []);
    expect(scores).toMatchObject({ overall: 0, overall_covered: 0, final: 0, dimensions: {} });
    expect(intervals.overall).toEqual({ low: 0, high: 0 });
  });
});

const scenarioArbitrary = fc.record({
  dimension: fc.constantFrom(...DIMENSIONS),
  difficulty: fc.constantFrom(...DIFFICULTIES),
  weight: fc.constantFrom(0.5, 1, 2),
  scores: fc.array(fc.option(fc.integer({ min: 0, max: 10_000 })), { minLength: 3, maxLength: 3 }),
});
const runArbitrary = fc.array(scenarioArbitrary, { minLength: 1, maxLength: 15 }).map((specs) => {
  const scenarios = specs.map((spec, index) =>
    facts(`s${index}`, spec.dimension, spec.difficulty, spec.weight),
  );
  const trials = specs.flatMap((spec, index) =>
    spec.scores.map((score, trial) =>
      score === null ? ungraded(`s${index}`, trial + 1) : graded(`s${index}`, trial + 1, score / 10_000),
    ),
  );
  return { scenarios, trials };
});

describe('aggregates of any run', () => {
  it('do not depend on the order of rows', () => {
    fc.assert(
      fc.property(runArbitrary, fc.infiniteStream(fc.nat()), ({ scenarios, trials }, noise) => {
        const shuffle = <Item>(items: readonly Item[]): Item[] =>
          items
            .map((item) => [noise.next().value ?? 0, item] as const)
            .sort(([left], [right]) => left - right)
            .map(([, item]) => item);
        expect(run(shuffle(scenarios), shuffle(trials))).toEqual(run(scenarios, trials));
      }),
      { numRuns: 50 },
    );
  });

  it('lie between 0 and 1, fit their schema, and strict <= pass@1 <= any over all started trials', () => {
    fc.assert(
      fc.property(runArbitrary, ({ scenarios, trials }) => {
        const aggregates = run(scenarios, trials);
        expect(runAggregatesSchema.parse(aggregates)).toEqual(aggregates);
        const { overall, overall_covered, capability, pass_at_1, pass_any, strict, final } =
          aggregates.scores;
        for (const value of [overall, overall_covered, capability, final]) {
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThanOrEqual(1);
        }
        for (const kind of ['weighted', 'unweighted'] as const) {
          expect(strict[kind]).toBeGreaterThanOrEqual(0);
          expect(strict[kind]).toBeLessThanOrEqual(pass_at_1[kind] + 0.0001);
          expect(pass_at_1[kind]).toBeLessThanOrEqual(pass_any[kind] + 0.0001);
          expect(pass_any[kind]).toBeLessThanOrEqual(1);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('do not fall when one trial does better', () => {
    fc.assert(
      fc.property(runArbitrary, fc.nat(), ({ scenarios, trials }, pick) => {
        const index = pick % trials.length;
        const better = trials.with(index, graded(trials[index]!.scenarioId, trials[index]!.trialNumber, 1));
        const before = run(scenarios, trials).scores;
        const after = run(scenarios, better).scores;
        expect(after.overall).toBeGreaterThanOrEqual(before.overall);
        expect(after.capability).toBeGreaterThanOrEqual(before.capability);
        expect(after.final).toBeGreaterThanOrEqual(before.final);
        for (const rate of ['pass_at_1', 'pass_any', 'strict'] as const) {
          expect(after[rate].weighted).toBeGreaterThanOrEqual(before[rate].weighted);
          expect(after[rate].unweighted).toBeGreaterThanOrEqual(before[rate].unweighted);
        }
      }),
      { numRuns: 100 },
    );
  });
});
