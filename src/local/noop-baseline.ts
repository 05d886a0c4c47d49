import { noopBaselineSchema } from '../api/report.ts';
import { readJsonRecord, writeJsonDurably } from '../files/durable.ts';
import type { CheckerHost } from '../scoring/checkers/checker-host.ts';
import { baselineRecord, isCurrentBaseline } from '../scoring/noop-baseline.ts';
import type { OpenRun } from './open-run.ts';

/** Stores what doing nothing earns in each scenario of a run's suite, unless that is stored already. */
export async function ensureNoopBaseline({ layout, index }: OpenRun, checkers: CheckerHost): Promise<void> {
  const stored = await readJsonRecord(noopBaselineSchema, layout.noopBaselineJson);
  if (isCurrentBaseline(stored, index)) return;
  await writeJsonDurably(layout.noopBaselineJson, await baselineRecord(layout.suite, index, checkers));
}
