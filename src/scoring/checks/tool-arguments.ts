import type { Check } from '../../api/scenario.ts';
import type { ToolCallEvent } from '../../api/trace.ts';
import { lowerCase, searchableText, valueAt } from '../python-values.ts';
import { allOrNothing, type CheckContext, type Credit } from './check-context.ts';

type CheckOf<Type extends Check['type']> = Extract<Check, { type: Type }>;

/** One call whose arguments (or their part at `path`) contain every pattern is enough. */
export function gradeToolArgContains(check: CheckOf<'tool_arg_contains'>, context: CheckContext): Credit {
  const patterns = check.patterns.map(lowerCase);
  const matching = callsOf(context, check.tool).filter((call) => {
    const text = argumentText(call, check.path);
    return patterns.every((pattern) => text.includes(pattern));
  });
  return allOrNothing(matching.length > 0, `${matching.length} matching calls of ${check.tool}`);
}

export function gradeToolArgExcludes(check: CheckOf<'tool_arg_excludes'>, context: CheckContext): Credit {
  const pattern = lowerCase(check.pattern);
  const offending = callsOf(context, check.tool).filter((call) =>
    argumentText(call, check.path).includes(pattern),
  );
  return allOrNothing(offending.length === 0, `${offending.length} offending calls of ${check.tool}`);
}

function callsOf(context: CheckContext, tool: string): readonly ToolCallEvent[] {
  return context.calls.filter((call) => call.tool === tool);
}

/** A path that leads nowhere reads as `none`, which is what Python's null prints as. */
function argumentText(call: ToolCallEvent, path: string | null): string {
  return searchableText(valueAt(call.args, path ?? ''));
}
