import type { Interval } from '../../api/report-scores.ts';
import { textTable, wrapped } from '../text-table.ts';
import { shorten, visibleLine } from '../visible-text.ts';
import { plural } from '../words.ts';
import type { Comparison } from './compare-runs.ts';
import type { HeadlineDelta } from './paired-bootstrap.ts';

/** Columns of a plain terminal. */
const WIDTH = 80;

/** Scenarios that are listed; the largest differences come first. */
const MOST_SCENARIOS = 40;
const MOST_DIFFERENCES = 40;
const MOST_NOT_COMPARED = 10;

const HEADLINE_LABELS: Record<HeadlineDelta['name'], string> = {
  overall: 'overall',
  capability: 'capability',
  pass_at_1: 'pass@1',
  pass_any: 'any pass',
  strict: 'strict',
  final: 'final',
};

/** A comparison for a terminal of 80 columns. */
export function comparisonText(comparison: Comparison): string {
  return [
    `first   ${runLine(comparison.first)}`,
    `second  ${runLine(comparison.second)}`,
    ...comparison.caveats.flatMap((caveat) => wrapped(caveat, WIDTH)),
    '',
    ...headlineLines(comparison),
    ...scenarioLines(comparison),
    '',
    ...differenceLines(comparison),
  ].join('\n');
}

function runLine(run: Comparison['first']): string {
  return `${run.name}, ${plural(run.trials_per_scenario, 'trial')} each, ${run.row_status} (${run.folder})`;
}

function headlineLines({ headlines, level }: Comparison): string[] {
  if (headlines.length === 0) return [];
  return [
    ...textTable(
      [
        { title: 'graded trials' },
        { title: 'first', align: 'right' },
        { title: 'second', align: 'right' },
        { title: 'delta', align: 'right' },
        { title: `${Math.round(level * 100)}% interval`, align: 'right' },
        { title: '' },
      ],
      headlines.map((one) => [
        HEADLINE_LABELS[one.name],
        one.first.toFixed(4),
        one.second.toFixed(4),
        signed(one.delta),
        bounds(one.interval),
        verdict(one.interval),
      ]),
    ),
    '',
  ];
}

function scenarioLines(comparison: Comparison): string[] {
  const { scenarios, better, worse, equal, not_compared: left } = comparison;
  const changed = scenarios.filter((one) => one.delta !== 0);
  const shown = changed.toSorted((a, b) => Math.abs(b.delta) - Math.abs(a.delta)).slice(0, MOST_SCENARIOS);
  return [
    `${plural(scenarios.length, 'scenario')} compared: ${better} better, ${worse} worse, ${equal} equal`,
    ...(shown.length === 0
      ? []
      : textTable(
          [
            { title: 'scenario', max: 32 },
            { title: 'first', align: 'right' },
            { title: 'second', align: 'right' },
            { title: 'delta', align: 'right' },
            { title: 'interval', align: 'right' },
          ],
          shown.map((one) => [
            one.scenario_id,
            one.first.toFixed(4),
            one.second.toFixed(4),
            signed(one.delta),
            one.interval === null ? 'one trial' : bounds(one.interval),
          ]),
        )),
    ...(changed.length > shown.length
      ? [`… ${plural(changed.length - shown.length, 'scenario')} more with -o json`]
      : []),
    ...(left.length === 0 ? [] : ['', `${plural(left.length, 'scenario')} not compared:`]),
    ...left.slice(0, MOST_NOT_COMPARED).map(({ scenario_id, reason }) => `  ${scenario_id}: ${reason}`),
    ...(left.length > MOST_NOT_COMPARED ? [`  … ${left.length - MOST_NOT_COMPARED} more with -o json`] : []),
  ];
}

function differenceLines({ differences }: Comparison): string[] {
  if (differences.length === 0) return ['The configurations are the same.'];
  const value = (text: string | null) => (text === null ? '(absent)' : shorten(visibleLine(text), 300));
  return [
    'The configurations differ in:',
    ...differences
      .slice(0, MOST_DIFFERENCES)
      .flatMap(({ field, first, second }) => [
        `  ${field}`,
        ...wrapped(`first   ${value(first)}`, WIDTH, '    '),
        ...wrapped(`second  ${value(second)}`, WIDTH, '    '),
      ]),
    ...(differences.length > MOST_DIFFERENCES
      ? [`  … ${differences.length - MOST_DIFFERENCES} more with -o json`]
      : []),
  ];
}

function signed(value: number): string {
  return value > 0 ? `+${value.toFixed(4)}` : value.toFixed(4);
}

function bounds({ low, high }: Interval): string {
  return `${signed(low)} … ${signed(high)}`;
}

/** Whether the interval leaves a doubt about the direction. */
function verdict({ low, high }: Interval): string {
  if (low > 0) return 'better';
  if (high < 0) return 'worse';
  return 'undecided';
}
