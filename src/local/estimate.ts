import type { BenchmarkRunSpec } from '../api/benchmark-run.ts';
import type { SuiteIndexEntry } from '../api/suite-index.ts';
import { resolveTimeouts } from '../api/timeouts.ts';

/** What a run would do: `--dry-run`. Times in seconds. */
export interface Estimate {
  readonly scenarios: number;
  readonly trialsPerScenario: number;
  readonly trials: number;
  readonly parallelism: number;
  /** If every trial used its whole budget once, spread over `parallelism`. */
  readonly longestSeconds: number;
  /** Attempts at most, were every one to fail by infrastructure, provider and disruption in turn. */
  readonly attemptsAtMost: number;
  /** Highest cost that the run's own bounds allow, or null where none is set. */
  readonly costUsdAtMost: number | null;
}

/** Counts and bounds of a run before anything of it is started. */
export function estimateRun(
  spec: BenchmarkRunSpec,
  scenarios: readonly Pick<SuiteIndexEntry, 'turn' | 'total'>[],
): Estimate {
  const trials = scenarios.length * spec.trialsPerScenario;
  const seconds = scenarios.reduce((sum, scenario) => {
    const declared = { turn: scenario.turn ?? undefined, total: scenario.total ?? undefined };
    const { timeouts } = resolveTimeouts(spec.timeouts, declared);
    // Without supervision a trial has one turn.
    const executor = spec.supervision.enabled ? timeouts.total : timeouts.turn;
    return sum + executor + timeouts.settle;
  }, 0);
  const { retry, model } = spec;
  const attemptsAtMost = trials * (1 + retry.infrastructure + retry.provider + retry.disruption);
  const bounds = [
    model?.budget?.usd,
    model?.attemptLimits?.usd === undefined ? undefined : model.attemptLimits.usd * attemptsAtMost,
  ].filter((bound) => bound !== undefined);
  return {
    scenarios: scenarios.length,
    trialsPerScenario: spec.trialsPerScenario,
    trials,
    parallelism: spec.parallelism,
    longestSeconds: Math.ceil(
      (seconds * spec.trialsPerScenario) / Math.min(spec.parallelism, Math.max(1, trials)),
    ),
    attemptsAtMost,
    costUsdAtMost: bounds.length === 0 ? null : Math.min(...bounds),
  };
}
