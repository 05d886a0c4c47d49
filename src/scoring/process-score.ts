import type { Scenario } from '../api/scenario.ts';
import { pythonRound } from './python-round.ts';
import { subsequenceLength } from './checks/sequence.ts';

export type ProcessExpectation = Pick<
  Scenario,
  'tools' | 'expected_tools' | 'ideal_tool_sequence' | 'optimal_steps'
>;

/**
 * P of a trial from its tool calls (paper, section 3.5 and Table 40): 0.4 appropriateness of the set of tools, 0.3
 * order, 0.3 absence of redundant steps; rounded to four decimals.
 *
 * @param actual tools of the trace's tool calls, in order
 */
export function processScore(actual: readonly string[], expectation: ProcessExpectation): number {
  const expected = expectation.expected_tools.length > 0 ? expectation.expected_tools : expectation.tools;
  const ideal = expectation.ideal_tool_sequence.length > 0 ? expectation.ideal_tool_sequence : expected;
  if (actual.length === 0 && expected.length === 0) return 1;
  const score =
    appropriateness(actual, expected) * 0.4 +
    orderQuality(actual, ideal) * 0.3 +
    (1 - redundancy(actual.length, expectation.optimal_steps)) * 0.3;
  return pythonRound(Math.max(0, Math.min(1, score)), 4);
}

/** F1 of the tools used against the tools expected; nothing expected cannot be missed. */
function appropriateness(actual: readonly string[], expected: readonly string[]): number {
  const used = new Set(actual.filter((tool) => tool !== ''));
  const wanted = new Set(expected.filter((tool) => tool !== ''));
  if (wanted.size === 0) return 1;
  if (used.size === 0) return 0;
  const shared = used.intersection(wanted).size;
  const precision = shared / used.size;
  const recall = shared / wanted.size;
  return precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall);
}

function orderQuality(actual: readonly string[], ideal: readonly string[]): number {
  return ideal.length === 0 ? 1 : subsequenceLength(actual, ideal) / ideal.length;
}

/** Share of the steps beyond the optimum. */
function redundancy(steps: number, optimalSteps: number): number {
  if (steps === 0) return 0;
  return Math.max(0, steps - Math.max(1, optimalSteps)) / steps;
}
