import type { BenchmarkRunSpec } from '../api/benchmark-run.ts';
import { resolveTimeouts } from '../api/timeouts.ts';
import type { TrialRecord } from '../api/trial.ts';
import type { OpenRun } from './open-run.ts';
import { newTrial, unsupportedTrial } from '../attempt/trial-state.ts';

/**
 * All trials that a run declares, those in `stored` as they are. First every scenario's first trial, then every
 * second one: a run that is cut short has then covered the suite as widely as it could.
 *
 * @param surfaces what the runtime offers; a scenario that needs more is unsupported
 */
export function planTrials(
  { record, index }: OpenRun,
  spec: BenchmarkRunSpec,
  surfaces: readonly string[],
  stored: ReadonlyMap<string, TrialRecord>,
): TrialRecord[] {
  const numbers = Array.from({ length: spec.trialsPerScenario }, (_, i) => i + 1);
  return numbers.flatMap((number) =>
    index.scenarios.map((scenario) => {
      const declared = { turn: scenario.turn ?? undefined, total: scenario.total ?? undefined };
      const { timeouts } = resolveTimeouts(spec.timeouts, declared);
      const fresh = newTrial(record, scenario, number, timeouts);
      const missing = scenario.surfaces.filter((surface) => !surfaces.includes(surface));
      return stored.get(fresh.name) ?? (missing.length > 0 ? unsupportedTrial(fresh, missing) : fresh);
    }),
  );
}

/** A trial that needs nothing more. */
export function isFinished(trial: TrialRecord): boolean {
  return trial.phase === 'Scored' || trial.phase === 'Cancelled';
}
