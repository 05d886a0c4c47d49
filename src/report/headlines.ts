import type { Report } from '../api/report.ts';
import type { Interval, ReportScores, ScoreIntervals } from '../api/report-scores.ts';

/** One headline number with what makes it defensible. */
export interface Headline {
  readonly name: string;
  readonly value: number;
  readonly interval: Interval;
  /** The same over graded trials only. */
  readonly graded: number;
  /** What it says, in one line. */
  readonly meaning: string;
}

/** The numbers a reader looks at first, in the order of their weight. */
export function headlines(report: Report): Headline[] {
  const k = report.trials_per_scenario;
  const pick = (
    name: string,
    meaning: string,
    value: (scores: ReportScores) => number,
    interval: (intervals: ScoreIntervals) => Interval,
  ): Headline => ({
    name,
    meaning,
    value: value(report.scores),
    graded: value(report.scores_graded),
    interval: interval(report.intervals),
  });
  const covered = report.scores.overall === report.scores.overall_covered ? [] : ['covered'];
  const final = report.final_comparable
    ? 'overall, strict and any together'
    : `from ${k} trials a scenario: comparable only at 3`;
  return [
    pick(
      'overall',
      'weighted over six dimensions',
      (s) => s.overall,
      (i) => i.overall,
    ),
    ...covered.map(() =>
      pick(
        'overall, covered',
        'over the dimensions that were run',
        (s) => s.overall_covered,
        (i) => i.overall_covered,
      ),
    ),
    pick(
      'capability',
      'before the efficiency penalty',
      (s) => s.capability,
      (i) => i.capability,
    ),
    pick(
      'pass@1',
      'share of trials passed, weighted',
      (s) => s.pass_at_1.weighted,
      (i) => i.pass_at_1.weighted,
    ),
    pick(
      `pass@${k} any`,
      'passed at least once, weighted',
      (s) => s.pass_any.weighted,
      (i) => i.pass_any.weighted,
    ),
    pick(
      `strict ${k}/${k}`,
      'always passed, weighted',
      (s) => s.strict.weighted,
      (i) => i.strict.weighted,
    ),
    pick(
      'final',
      final,
      (s) => s.final,
      (i) => i.final,
    ),
  ];
}
