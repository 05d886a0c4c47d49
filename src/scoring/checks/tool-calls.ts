import type { Check } from '../../api/scenario.ts';
import { allOrNothing, type CheckContext, type Credit } from './check-context.ts';
import { subsequenceLength } from './sequence.ts';

type CheckOf<Type extends Check['type']> = Extract<Check, { type: Type }>;

/** Too few calls earn their share of the minimum, too many the share that the maximum is of them. */
export function gradeToolCalled(check: CheckOf<'tool_called'>, context: CheckContext): Credit {
  const count = callsOf(context, check.tool);
  return { ratio: withinBounds(count, check.min_count, check.max_count), detail: counted(check.tool, count) };
}

export function gradeToolNotCalled(check: CheckOf<'tool_not_called'>, context: CheckContext): Credit {
  const count = callsOf(context, check.tool);
  return allOrNothing(count === 0, counted(check.tool, count));
}

/** As `tool_called`, but with 0 as the usual minimum: the tool may be left alone. */
export function gradeToolCount(check: CheckOf<'tool_count'>, context: CheckContext): Credit {
  const count = callsOf(context, check.tool);
  return { ratio: withinBounds(count, check.min_count, check.max_count), detail: counted(check.tool, count) };
}

/** Full credit within the tolerance around the target; outside of it the ratio to the nearer bound. */
export function gradeToolCountScore(check: CheckOf<'tool_count_score'>, context: CheckContext): Credit {
  const count = callsOf(context, check.tool);
  const lower = Math.max(0, check.target_count - check.tolerance);
  const upper = check.target_count + check.tolerance;
  return {
    ratio: withinBounds(count, lower, upper),
    detail: `${counted(check.tool, count)}, wanted ${lower === upper ? lower : `${lower} to ${upper}`}`,
  };
}

export function gradeToolSequence(check: CheckOf<'tool_sequence'>, context: CheckContext): Credit {
  const actual = context.calls.map((call) => call.tool);
  const matched = subsequenceLength(actual, check.tools);
  return {
    ratio: check.tools.length === 0 ? 0 : matched / check.tools.length,
    detail: `${matched} of ${check.tools.length} in order; called: ${actual.join(', ')}`,
  };
}

/** Compares the first call of each tool. */
export function gradeToolCalledBefore(check: CheckOf<'tool_called_before'>, context: CheckContext): Credit {
  const first = context.calls.findIndex((call) => call.tool === check.first);
  const second = context.calls.findIndex((call) => call.tool === check.second);
  return allOrNothing(
    first !== -1 && second !== -1 && first < second,
    `${check.first}: ${position(first)}; ${check.second}: ${position(second)}`,
  );
}

function callsOf(context: CheckContext, tool: string): number {
  return context.calls.filter((call) => call.tool === tool).length;
}

function withinBounds(count: number, minimum: number, maximum: number | null): number {
  if (count < minimum) return count / minimum;
  if (maximum !== null && count > maximum) return count > 0 ? maximum / count : 0;
  return 1;
}

function counted(tool: string, count: number): string {
  return `${tool} called ${count} ${count === 1 ? 'time' : 'times'}`;
}

function position(index: number): string {
  return index === -1 ? 'never called' : `call ${index + 1}`;
}
