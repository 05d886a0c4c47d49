import type { Scenario } from '../api/scenario.ts';
import { pythonRound } from './python-round.ts';

export type EfficiencyLimits = Pick<
  Scenario,
  'optimal_steps' | 'efficiency_penalty_cap' | 'efficiency_penalty_rate'
>;

/**
 * E of a trial (paper, section 3.5): the excess over the optimal number of tool calls, relative to it, times the
 * rate, up to the cap; rounded to four decimals. A custom checker's penalty can only raise it, up to the cap.
 *
 * @param toolCalls `metrics.tool_calls` of the trace, not the number of its events
 * @param custom the checker's own penalty, which enters unrounded; null where it gives none
 */
export function efficiencyPenalty(
  toolCalls: number,
  limits: EfficiencyLimits,
  custom: number | null = null,
): number {
  const cap = limits.efficiency_penalty_cap;
  const own = fromExcess(toolCalls, limits);
  return custom === null ? own : Math.max(own, Math.max(0, Math.min(cap, custom)));
}

function fromExcess(toolCalls: number, limits: EfficiencyLimits): number {
  const { optimal_steps: optimal, efficiency_penalty_cap: cap, efficiency_penalty_rate: rate } = limits;
  if (optimal <= 0 || toolCalls <= optimal) return 0;
  const penalty = ((toolCalls - optimal) / optimal) * rate;
  return pythonRound(Math.min(cap, Math.max(0, penalty)), 4);
}
