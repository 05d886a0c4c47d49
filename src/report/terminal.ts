import type { Report, TrialRow } from '../api/report.ts';
import { headlines } from './headlines.ts';
import { DIMENSIONS } from '../api/vocabulary.ts';
import { textTable, wrapped } from './text-table.ts';
import { caveats, OUTCOME_SIGNS, outcomeCounts, plural } from './words.ts';

/** Columns of a plain terminal. */
const WIDTH = 80;

/** Scenario lines beyond which only those with something to say are shown. */
const MOST_SCENARIOS = 40;

export interface ReportPaths {
  readonly reportJson: string;
  readonly reportHtml: string;
}

/** The report for a terminal of 80 columns: numbers with intervals, dimensions, scenarios, outcomes, paths. */
export function terminalReport(report: Report, rows: readonly TrialRow[], paths: ReportPaths): string {
  return [
    title(report),
    '',
    ...scenarioTable(report, rows),
    '',
    ...dimensionTable(report),
    '',
    ...headlineTable(report),
    '',
    ...countLines(report),
    ...caveats(report).flatMap((line) => wrapped(line, WIDTH)),
    '',
    `report.json  ${paths.reportJson}`,
    `report.html  ${paths.reportHtml}`,
    '',
  ].join('\n');
}

function title(report: Report): string {
  const { runtime, model } = report.provenance;
  const agent = model.identity === 'none' ? runtime.name : `${runtime.name} with ${model.identity}`;
  return `${report.name}: ${agent}, ${plural(report.counts.scenarios, 'scenario')}, ${plural(report.trials_per_scenario, 'trial')} each`;
}

function scenarioTable(report: Report, rows: readonly TrialRow[]): string[] {
  const signs = new Map<string, string>();
  for (const row of rows) {
    const sign = row.outcome === null ? '?' : OUTCOME_SIGNS[row.outcome];
    signs.set(row.scenario_id, (signs.get(row.scenario_id) ?? '') + sign);
  }
  const flagged = new Set(
    report.baseline === 'unavailable' ? [] : report.baseline.flagged.map((flag) => flag.scenario_id),
  );
  const many = report.scenarios.length > MOST_SCENARIOS;
  const telling = many
    ? report.scenarios.filter((one) => one.strict !== true).sort((a, b) => a.mean - b.mean)
    : report.scenarios;
  const shown = telling.slice(0, MOST_SCENARIOS);
  const table = textTable(
    [
      { title: 'scenario', max: 38 },
      { title: 'level', max: 6 },
      { title: 'score', align: 'right' },
      { title: '±', align: 'right' },
      { title: 'trials', max: 12 },
    ],
    shown.map((one) => [
      `${one.scenario_id}${flagged.has(one.scenario_id) ? ' *' : ''}`,
      one.difficulty,
      one.mean.toFixed(4),
      one.stddev.toFixed(3),
      signs.get(one.scenario_id) ?? '',
    ]),
  );
  const rest = report.scenarios.length - shown.length;
  return rest === 0 ? table : [...table, `… ${plural(rest, 'scenario')} more in report.html`];
}

function dimensionTable(report: Report): string[] {
  return textTable(
    [
      { title: 'dimension' },
      { title: 'score', align: 'right' },
      { title: '95% interval', align: 'right' },
      { title: 'pass@1', align: 'right' },
      { title: 'strict', align: 'right' },
      { title: 'scenarios', align: 'right' },
    ],
    DIMENSIONS.flatMap((name) => {
      const one = report.dimensions[name];
      const interval = report.intervals.dimensions[name];
      if (one === undefined) return [];
      return [
        [
          name,
          one.score.toFixed(4),
          interval === undefined ? '' : `${interval.low.toFixed(4)}–${interval.high.toFixed(4)}`,
          one.pass_at_1.toFixed(4),
          one.strict.toFixed(4),
          String(one.scenarios),
        ],
      ];
    }),
  );
}

function headlineTable(report: Report): string[] {
  return textTable(
    [
      { title: 'run' },
      { title: 'score', align: 'right' },
      { title: '95% interval', align: 'right' },
      { title: 'graded only', align: 'right' },
      { title: '', max: 32 },
    ],
    headlines(report).map((one) => [
      one.name,
      one.value.toFixed(4),
      `${one.interval.low.toFixed(4)}–${one.interval.high.toFixed(4)}`,
      one.graded.toFixed(4),
      one.meaning,
    ]),
  );
}

function countLines(report: Report): string[] {
  const { counts, provenance } = report;
  const { cost_scored_usd: scored, cost_all_usd: all } = provenance.resources;
  const retries =
    counts.retries === 0 ? '' : `, ${plural(counts.retries, 'retry').replace('retrys', 'retries')}`;
  return [
    ...wrapped(
      `Trials: ${counts.started} started of ${counts.declared}, ${counts.graded} graded, ${counts.passed} passed${retries}. ` +
        `Outcomes: ${outcomeCounts(counts.outcomes)}. Row: ${report.row_status}.`,
      WIDTH,
    ),
    ...(typeof scored === 'number' && typeof all === 'number'
      ? [`Cost: $${scored.toFixed(4)} of scored attempts, $${all.toFixed(4)} of all.`]
      : []),
  ];
}
