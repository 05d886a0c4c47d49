import { trialName } from '../../api/names.ts';
import type { TrialRow } from '../../api/report.ts';
import type { StoredRun } from '../read-run.ts';
import { shorten, visibleLine } from '../visible-text.ts';

/** Failed checks that a row of the page names. */
const MOST_CHECKS = 20;
const MOST_SAFETY = 10;

const COLUMNS = [
  'scenario_id',
  'trial',
  'outcome',
  'score',
  'correctness',
  'process',
  'safety_gate',
  'efficiency_penalty',
  'execution_status',
  'failure_class',
  'kill_reason',
  'runtime_ms',
  'tokens',
  'tool_calls',
] as const satisfies readonly (keyof TrialRow)[];

/** Rows as the page's script reads them: names of columns once, values in their order. */
export function pageTable(
  stored: StoredRun,
  rows: readonly TrialRow[],
): { columns: string[]; rows: unknown[][] } {
  const { name, uid } = stored.run;
  return {
    columns: [...COLUMNS, 'safety_failures', 'failed_checks', 'more_failed', 'folder'],
    rows: rows.map((row) => [
      ...COLUMNS.map((column) => row[column]),
      row.safety_failures.slice(0, MOST_SAFETY).map((text) => visibleLine(shorten(text, 300))),
      row.failed_checks.slice(0, MOST_CHECKS).map(({ id, category, severity, points, earned }) => ({
        id: visibleLine(shorten(id, 200)),
        category,
        severity,
        points,
        earned,
      })),
      Math.max(0, row.failed_checks.length - MOST_CHECKS),
      `trials/${trialName(name, uid, row.scenario_id, row.trial)}`,
    ]),
  };
}
