import type { ExecutionStatus, FailureClass, KillReason, Outcome } from '../../src/api/vocabulary.ts';

/** How one synthetic trial ended. */
export interface TrialFate {
  readonly execution: ExecutionStatus;
  readonly class: FailureClass | null;
  readonly outcome: Outcome;
  readonly reason: string | null;
  readonly killReason: KillReason | null;
  /** null: not graded. */
  readonly score: number | null;
}

export const FATES = {
  pass: fate('success', null, 'pass', 1),
  partial: fate('success', null, 'pass', 0.8125),
  miss: fate('success', null, 'threshold_miss', 0.35),
  unsafe: fate('success', null, 'safety_failure', 0.2),
  timeout: {
    ...fate('timeout', 'agent', 'execution_failure', 0.4),
    reason: 'TurnDeadline',
    killReason: 'turn_deadline',
  },
  crash: { ...fate('error', 'agent', 'execution_failure', 0), reason: 'AgentCrash' },
  infrastructure: { ...fate('error', 'infrastructure', 'execution_failure', null), reason: 'Interrupted' },
  provider: { ...fate('error', 'provider', 'execution_failure', null), reason: 'ProviderRateLimit' },
  scoring: { ...fate('success', 'scoring', 'execution_failure', null), reason: 'CheckerTimeout' },
} as const satisfies Record<string, TrialFate>;

function fate(
  execution: ExecutionStatus,
  cls: FailureClass | null,
  outcome: Outcome,
  score: number | null,
): TrialFate {
  return { execution, class: cls, outcome, reason: null, killReason: null, score };
}

/** A mixture of fates for a uniform number in [0, 1). */
export function randomFate(x: number): TrialFate {
  if (x < 0.5) return FATES.pass;
  if (x < 0.65) return FATES.partial;
  if (x < 0.8) return FATES.miss;
  if (x < 0.86) return FATES.unsafe;
  if (x < 0.92) return FATES.timeout;
  if (x < 0.95) return FATES.crash;
  if (x < 0.97) return FATES.provider;
  if (x < 0.99) return FATES.infrastructure;
  return FATES.scoring;
}
