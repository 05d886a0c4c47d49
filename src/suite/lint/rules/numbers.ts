import { error, warning, type Rule, type RuleFinding } from '../finding.ts';

/** Shorter turns end before a model has answered once; longer ones are usually milliseconds by mistake. */
const SHORTEST_TURN = 10;
const LONGEST_TURN = 7200;

/** Numbers that make a score or a clock meaningless. */
export const numbers: Rule = {
  name: 'numbers',
  check: ({ scenario, written }) => {
    const findings: RuleFinding[] = [];
    const { pass_threshold, weight, timeout_seconds, optimal_steps, ideal_tool_sequence } = scenario;
    if (!(pass_threshold >= 0 && pass_threshold <= 1)) {
      findings.push(
        error(
          ['pass_threshold'],
          `is ${pass_threshold}, but scores lie between 0 and 1`,
          'Write a number between 0 and 1.',
        ),
      );
    } else if (pass_threshold === 0) {
      findings.push(warning(['pass_threshold'], 'is 0: every trial passes', 'Raise it.'));
    }
    if (weight === 0) {
      findings.push(
        warning(
          ['weight'],
          'is 0: the scenario counts for nothing',
          'Raise it, or set benchmark_status to incubating.',
        ),
      );
    }
    if (timeout_seconds < SHORTEST_TURN || timeout_seconds > LONGEST_TURN) {
      findings.push(
        warning(
          ['timeout_seconds'],
          `a turn of ${timeout_seconds} s is ${timeout_seconds < SHORTEST_TURN ? 'too short for a model to answer' : 'over two hours'}`,
          'Seconds are meant.',
        ),
      );
    }
    if (optimal_steps <= 0) {
      findings.push(
        warning(
          ['optimal_steps'],
          `is ${optimal_steps}: efficiency never counts`,
          'Write how many tool calls a good answer takes.',
        ),
      );
    } else if (ideal_tool_sequence.length > optimal_steps) {
      findings.push(
        warning(
          written['optimal_steps'] === undefined ? ['ideal_tool_sequence'] : ['optimal_steps'],
          `is ${optimal_steps}, but ideal_tool_sequence has ${ideal_tool_sequence.length} calls: following it costs efficiency`,
          `Set optimal_steps to ${ideal_tool_sequence.length} or more.`,
        ),
      );
    }
    return findings;
  },
};
