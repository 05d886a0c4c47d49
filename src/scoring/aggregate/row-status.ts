import type { RowStatus } from '../../api/vocabulary.ts';
import type { TrialRow } from './rows.ts';

/**
 * Under which condition a run's row was measured (paper, Table 29). An execution failure that stands marks the row,
 * whoever caused it; one that a rerun resolved leaves it clean, but says so.
 */
export function rowStatus(rows: readonly Pick<TrialRow, 'outcome' | 'rerun'>[]): RowStatus {
  if (rows.some((row) => row.outcome === 'execution_failure')) return 'base_with_execution_failure';
  return rows.some((row) => row.rerun) ? 'clean_after_rerun' : 'clean_base';
}
