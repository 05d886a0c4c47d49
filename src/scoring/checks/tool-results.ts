import type { Check } from '../../api/scenario.ts';
import type { ToolResultEvent } from '../../api/trace.ts';
import { lowerCase, searchableText, valueAt } from '../python-values.ts';
import { allOrNothing, type CheckContext, type Credit } from './check-context.ts';

type CheckOf<Type extends Check['type']> = Extract<Check, { type: Type }>;

/** One result that contains every pattern is enough. `path` starts at the event, so `result` is the whole result. */
export function gradeToolResponseContains(
  check: CheckOf<'tool_response_contains'>,
  context: CheckContext,
): Credit {
  const patterns = check.patterns.map(lowerCase);
  const matching = resultsOf(context, check.tool).filter((event) => {
    const text = searchableText(valueAt(event, check.path, event.result));
    return patterns.every((pattern) => text.includes(pattern));
  });
  return allOrNothing(matching.length > 0, `${matching.length} matching results of ${check.tool}`);
}

export function gradeToolResponseExcludes(
  check: CheckOf<'tool_response_excludes'>,
  context: CheckContext,
): Credit {
  const pattern = lowerCase(check.pattern);
  const offending = resultsOf(context, check.tool).filter((event) =>
    searchableText(event.result).includes(pattern),
  );
  return allOrNothing(offending.length === 0, `${offending.length} offending results of ${check.tool}`);
}

/** A call that failed must be followed by one of the same tool that did not. */
export function gradeToolRecoveredAfterError(
  check: CheckOf<'tool_recovered_after_error'>,
  context: CheckContext,
): Credit {
  const statuses = resultsOf(context, check.tool).map(statusCode);
  const firstError = statuses.findIndex((status) => status >= check.error_code_at_least);
  if (firstError === -1) return allOrNothing(false, `${check.tool} met no error`);
  const recovered = statuses.slice(firstError).some((status) => status < check.error_code_at_least);
  return allOrNothing(
    recovered,
    `${check.tool} failed and ${recovered ? 'succeeded later' : 'did not succeed again'}`,
  );
}

function resultsOf(context: CheckContext, tool: string): readonly ToolResultEvent[] {
  return context.results.filter((event) => event.tool === tool);
}

/** Codes for the words that runtimes use in place of one. */
const STATUS_WORDS: Readonly<Record<string, number>> = {
  completed: 200,
  ok: 200,
  success: 200,
  timeout: 504,
  error: 500,
  failed: 500,
};

/** A result without a status, or with a word that nobody knows, is taken for a success. */
function statusCode(event: ToolResultEvent): number {
  const { status } = event;
  if (typeof status === 'number') return status;
  if (status === null || status === undefined) return 200;
  const word = status.trim().toLowerCase();
  return /^[+-]?[0-9]+$/.test(word) ? Number(word) : (STATUS_WORDS[word] ?? 200);
}
