import { REPORT_SCHEMA_VERSION, noopBaselineSchema } from '../api/report.ts';
import { readJsonRecord, writeJsonDurably } from '../files/durable.ts';
import type { CheckerHost } from '../scoring/checkers/checker-host.ts';
import { noopBaseline } from '../scoring/noop-baseline.ts';
import { SCORER_VERSION } from '../scoring/version.ts';
import type { OpenRun } from './open-run.ts';

/**
 * Stores what doing nothing earns in each scenario of a run's suite, unless that is stored already for this
 * suite and scorer. The report flags scenarios where it earns something.
 */
export async function ensureNoopBaseline({ layout, index }: OpenRun, checkers: CheckerHost): Promise<void> {
  const stored = await readJsonRecord(noopBaselineSchema, layout.noopBaselineJson);
  if (stored?.suiteDigest === index.suiteDigest && stored.scorerVersion === SCORER_VERSION) return;
  const scores = await noopBaseline(layout.suite, index, checkers);
  await writeJsonDurably(layout.noopBaselineJson, {
    schema_version: REPORT_SCHEMA_VERSION,
    suiteDigest: index.suiteDigest,
    scorerVersion: SCORER_VERSION,
    scenarios: Object.fromEntries(scores.map(({ scenarioId, score }) => [scenarioId, score])),
  });
}
