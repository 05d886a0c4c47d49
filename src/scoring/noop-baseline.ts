import { join } from 'node:path';
import { REPORT_SCHEMA_VERSION, type NoopBaseline } from '../api/report.ts';
import type { SuiteLayout } from '../api/run-layout.ts';
import type { ScoringError } from '../api/score.ts';
import type { SuiteIndex } from '../api/suite-index.ts';
import { emptyTrace } from '../api/trace.ts';
import { readHiddenScenario } from '../suite/frozen.ts';
import type { CheckerHost } from './checkers/checker-host.ts';
import type { CheckerLimits } from './checkers/types.ts';
import { scoreTrial } from './score-trial.ts';
import { SCORER_VERSION } from './version.ts';

/** What an agent that does nothing earns in one scenario; `score` is null where grading failed. */
export interface NoopScore {
  readonly scenarioId: string;
  readonly score: number | null;
  readonly error: ScoringError | null;
}

export interface NoopOptions {
  readonly limits?: Partial<CheckerLimits>;
  readonly signal?: AbortSignal;
  /** Scenarios graded at once. */
  readonly concurrency?: number;
}

const CONCURRENCY = 4;

/**
 * Scores every scenario of a frozen suite for an agent that does nothing: an empty trace and the workspace as it
 * was. A scenario that pays for that measures something else than it says.
 *
 * @returns one entry a scenario, in the order of the index
 */
export async function noopBaseline(
  layout: SuiteLayout,
  index: SuiteIndex,
  host: CheckerHost,
  options: NoopOptions = {},
): Promise<NoopScore[]> {
  const scores: NoopScore[] = [];
  const waiting = index.scenarios.entries();
  const work = async () => {
    // The iterator is shared: each of the workers takes the next scenario.
    for (const [position, { id }] of waiting) {
      const result = await scoreTrial(
        {
          hidden: await readHiddenScenario(layout, id),
          layout,
          workspaceDir: join(layout.publicDir(id), 'workspace'),
          trace: emptyTrace(),
          execution: 'success',
          signal: options.signal,
          ...(options.limits === undefined ? {} : { limits: options.limits }),
        },
        host,
      );
      scores[position] = { scenarioId: id, score: result.score?.score ?? null, error: result.error ?? null };
    }
  };
  await Promise.all(Array.from({ length: options.concurrency ?? CONCURRENCY }, work));
  return scores;
}

/** Whether a stored baseline is of this suite and this scorer. */
export function isCurrentBaseline(stored: NoopBaseline | undefined, index: SuiteIndex): boolean {
  return stored?.suiteDigest === index.suiteDigest && stored.scorerVersion === SCORER_VERSION;
}

/** noop-baseline.json of a frozen suite: the report flags scenarios where doing nothing earns something. */
export async function baselineRecord(
  layout: SuiteLayout,
  index: SuiteIndex,
  host: CheckerHost,
  options: NoopOptions = {},
): Promise<NoopBaseline> {
  const scores = await noopBaseline(layout, index, host, options);
  return {
    schema_version: REPORT_SCHEMA_VERSION,
    suiteDigest: index.suiteDigest,
    scorerVersion: SCORER_VERSION,
    scenarios: Object.fromEntries(scores.map(({ scenarioId, score }) => [scenarioId, score])),
  };
}
