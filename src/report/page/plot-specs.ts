import type { TopLevelSpec } from 'vega-lite';
import type { TrialRow } from '../../api/report.ts';
import { DIMENSIONS, FAILURE_CLASSES, OUTCOMES, type Outcome } from '../../api/vocabulary.ts';
import type { RunTally } from '../tally.ts';
import { OUTCOME_LABELS } from '../words.ts';
import { PALETTE } from './palette.ts';

export interface DimensionScore {
  readonly dimension: string;
  readonly score: number;
  readonly low: number | null;
  readonly high: number | null;
}

export interface LegendEntry {
  readonly label: string;
  readonly colour: string;
}

/** What a plot shows, before it is drawn. */
export interface PlotSpec {
  readonly title: string;
  readonly caption: string;
  /** Meaning of the colours that occur; empty where there is only one. */
  readonly legend: readonly LegendEntry[];
  readonly spec: TopLevelSpec;
}

/** Trials beyond which single points would hide each other (and bloat the page): then a band stands for them. */
const MOST_POINTS = 400;

/** Pixels of the plotting area: small enough for a telephone, scaled up by the page where there is room. */
const WIDTH = 240;
const BAND = 26;

/** Specifications of a report's plots; a plot of which nothing is known is left out. */
export function plotSpecs(
  dimensions: readonly DimensionScore[],
  rows: readonly TrialRow[],
  tally: RunTally,
): PlotSpec[] {
  return [
    scorePlot(dimensions, rows),
    outcomePlot(rows),
    classPlot(tally),
    histogram(rows, { field: 'runtime_ms', factor: 0.001, title: 'Agent time per trial', unit: 'seconds' }),
    histogram(rows, { field: 'tokens', factor: 1, title: 'Tokens per trial', unit: 'tokens' }),
  ].filter((plot) => plot !== undefined);
}

const dimensionAxis = {
  field: 'dimension',
  type: 'nominal' as const,
  sort: null,
  axis: { title: null, ticks: false, domain: false, labelColor: PALETTE.ink.light },
};

const scoreAxis = {
  type: 'quantitative' as const,
  scale: { domain: [0, 1] },
  axis: { title: null, values: [0, 0.25, 0.5, 0.75, 1], format: '.2f' },
};

function scorePlot(dimensions: readonly DimensionScore[], rows: readonly TrialRow[]): PlotSpec | undefined {
  if (dimensions.length === 0) return undefined;
  const graded = rows.filter((row) => row.score !== null);
  const many = graded.length > MOST_POINTS;
  const values = dimensions.map((one) => ({ ...one, dimension: spaced(one.dimension) }));
  const intervals = values.filter((one) => one.low !== null && one.high !== null);
  const spread = many
    ? {
        data: { values: middleHalves(graded) },
        mark: { type: 'rule' as const, strokeWidth: 5, color: PALETTE.point.light, opacity: 0.55 },
        encoding: { y: dimensionAxis, x: { ...scoreAxis, field: 'low' }, x2: { field: 'high' } },
      }
    : {
        data: { values: trialPoints(graded) },
        mark: { type: 'circle' as const, size: 22, color: PALETTE.point.light, opacity: 0.7 },
        encoding: {
          y: dimensionAxis,
          x: { ...scoreAxis, field: 'score' },
          yOffset: { field: 'offset', type: 'quantitative' as const, scale: { domain: [-1, 1] } },
        },
      };
  const each = many ? 'The thick line holds the middle half of the trials' : 'Each point is a graded trial';
  const interval = intervals.length > 0 ? '; the thin line is the 95% interval of the score' : '';
  return {
    title: 'Score per dimension',
    caption: `Bars: score of the dimension. ${each}${interval}.`,
    legend: [],
    spec: {
      width: WIDTH,
      height: { step: BAND },
      layer: [
        {
          data: { values },
          // Rounded ends would need clip paths, whose ids differ from one drawing to the next.
          mark: { type: 'bar', color: PALETTE.bar.light },
          encoding: { y: dimensionAxis, x: { ...scoreAxis, field: 'score' } },
        },
        spread,
        {
          data: { values: intervals },
          mark: { type: 'rule', strokeWidth: 1.5, color: PALETTE.ink.light },
          encoding: { y: dimensionAxis, x: { ...scoreAxis, field: 'low' }, x2: { field: 'high' } },
        },
      ],
    },
  };
}

function outcomePlot(rows: readonly TrialRow[]): PlotSpec | undefined {
  const counts = new Map<string, { dimension: string; outcome: string; order: number; count: number }>();
  for (const row of rows) {
    const { label, order } = outcomeWord(row.outcome);
    const key = `${row.dimension} ${label}`;
    const entry = counts.get(key) ?? { dimension: spaced(row.dimension), outcome: label, order, count: 0 };
    counts.set(key, { ...entry, count: entry.count + 1 });
  }
  if (counts.size === 0) return undefined;
  const values = DIMENSIONS.flatMap((one) => [...counts.values()].filter((c) => c.dimension === spaced(one)));
  const legend = outcomeLegend(rows);
  return {
    title: 'Outcomes',
    caption: 'Trials of each dimension by outcome.',
    legend,
    spec: {
      width: WIDTH,
      height: { step: BAND },
      data: { values },
      mark: { type: 'bar' },
      encoding: {
        y: dimensionAxis,
        x: { field: 'count', type: 'quantitative', stack: 'zero', axis: { title: 'trials', tickMinStep: 1 } },
        color: { field: 'outcome', type: 'nominal', scale: scaleOf(legend) },
        order: { field: 'order' },
      },
    },
  };
}

const CLASS_LEGEND: readonly LegendEntry[] = [
  { label: 'stands for the trial', colour: PALETTE.execution_failure.light },
  { label: 'made good by a later attempt', colour: PALETTE.pending.light },
];

function classPlot(tally: RunTally): PlotSpec | undefined {
  const values = FAILURE_CLASSES.flatMap((dimension) => {
    const stands = tally.classes[dimension];
    const madeGood = Math.max(0, tally.attemptClasses[dimension] - stands);
    return [stands, madeGood].map((count, order) => ({
      dimension,
      what: CLASS_LEGEND[order]?.label,
      order,
      count,
    }));
  });
  if (values.every((value) => value.count === 0)) return undefined;
  return {
    title: 'Failure classes',
    caption: 'Who caused the failures of trials and attempts. Only what the agent caused is graded.',
    legend: CLASS_LEGEND,
    spec: {
      width: WIDTH,
      height: { step: BAND },
      data: { values },
      mark: { type: 'bar' },
      encoding: {
        y: dimensionAxis,
        x: { field: 'count', type: 'quantitative', axis: { title: 'failures', tickMinStep: 1 } },
        color: { field: 'what', type: 'nominal', scale: scaleOf(CLASS_LEGEND) },
        order: { field: 'order' },
      },
    },
  };
}

interface Measure {
  readonly field: 'runtime_ms' | 'tokens';
  readonly factor: number;
  readonly title: string;
  readonly unit: string;
}

function histogram(rows: readonly TrialRow[], measure: Measure): PlotSpec | undefined {
  const { field, factor, title, unit } = measure;
  const known = rows.filter((row) => row[field] !== null);
  if (known.length === 0) return undefined;
  const legend = outcomeLegend(known);
  const values = known.map((row) => {
    const { label, order } = outcomeWord(row.outcome);
    return { value: (row[field] ?? 0) * factor, outcome: label, order };
  });
  const unknown = rows.length - known.length;
  return {
    title,
    caption:
      unknown === 0 ? `All ${rows.length} trials.` : `Without ${unknown} trials that have no record of it.`,
    legend,
    spec: {
      width: WIDTH + 60,
      height: 130,
      data: { values },
      mark: { type: 'bar' },
      encoding: {
        x: { field: 'value', type: 'quantitative', bin: { maxbins: 20 }, axis: { title: unit } },
        y: {
          aggregate: 'count',
          type: 'quantitative',
          axis: { title: 'trials', tickMinStep: 1, tickCount: 4 },
        },
        color: { field: 'outcome', type: 'nominal', scale: scaleOf(legend) },
        order: { field: 'order', aggregate: 'min' },
      },
    },
  };
}

function outcomeWord(outcome: Outcome | null): { label: string; order: number } {
  return outcome === null
    ? { label: 'not ended', order: OUTCOMES.length }
    : { label: OUTCOME_LABELS[outcome], order: OUTCOMES.indexOf(outcome) };
}

/** Only the outcomes that occur, in their order. */
function outcomeLegend(rows: readonly TrialRow[]): LegendEntry[] {
  const present = new Set(rows.map((row) => row.outcome));
  return [...OUTCOMES, null]
    .filter((outcome) => present.has(outcome))
    .map((outcome) => ({
      label: outcomeWord(outcome).label,
      colour: PALETTE[outcome ?? 'pending'].light,
    }));
}

function scaleOf(legend: readonly LegendEntry[]): { domain: string[]; range: string[] } {
  return { domain: legend.map(({ label }) => label), range: legend.map(({ colour }) => colour) };
}

/** Points side by side within their band: the offset comes from the trial's place, not from chance. */
function trialPoints(rows: readonly TrialRow[]) {
  return rows.map((row, i) => ({
    dimension: spaced(row.dimension),
    score: row.score,
    offset: (((i * 7) % 11) - 5) / 9,
  }));
}

function middleHalves(rows: readonly TrialRow[]) {
  return DIMENSIONS.flatMap((dimension) => {
    const scores = rows
      .filter((row) => row.dimension === dimension)
      .map((row) => row.score ?? 0)
      .sort((a, b) => a - b);
    const at = (share: number) => scores[Math.round((scores.length - 1) * share)] ?? 0;
    return scores.length === 0 ? [] : [{ dimension: spaced(dimension), low: at(0.25), high: at(0.75) }];
  });
}

function spaced(word: string): string {
  return word.replaceAll('_', ' ');
}
