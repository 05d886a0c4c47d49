import type { Check } from '../../api/scenario.ts';
import { codePointLength, lowerCase } from '../python-values.ts';
import { allOrNothing, type CheckContext, type Credit } from './check-context.ts';

type CheckOf<Type extends Check['type']> = Extract<Check, { type: Type }>;

export function gradeResponseContains(check: CheckOf<'response_contains'>, context: CheckContext): Credit {
  return shareFound(check.patterns, context.response);
}

export function gradeResponseExcludes(check: CheckOf<'response_excludes'>, context: CheckContext): Credit {
  const response = lowerCase(context.response);
  const found = check.patterns.filter((pattern) => response.includes(lowerCase(pattern)));
  return allOrNothing(found.length === 0, found.length === 0 ? 'none found' : `found: ${found.join(', ')}`);
}

/** Length in characters (code points). */
export function gradeResponseLengthMax(check: CheckOf<'response_length_max'>, context: CheckContext): Credit {
  const length = codePointLength(context.response);
  return {
    ratio: length <= check.max_length ? 1 : check.max_length / length,
    detail: `${length} characters of at most ${check.max_length}`,
  };
}

/** Without patterns any question mark will do. */
export function gradeAssistantAsksClarification(
  check: CheckOf<'assistant_asks_clarification'>,
  context: CheckContext,
): Credit {
  if (check.patterns.length > 0) return shareFound(check.patterns, context.response);
  const asks = context.response.includes('?');
  return allOrNothing(asks, asks ? 'a question mark' : 'no question mark');
}

/** Share of the patterns that occur in the text, whatever their case. */
export function shareFound(patterns: readonly string[], text: string): Credit {
  const lowered = lowerCase(text);
  const missing = patterns.filter((pattern) => !lowered.includes(lowerCase(pattern)));
  const found = patterns.length - missing.length;
  return {
    ratio: patterns.length === 0 ? 0 : found / patterns.length,
    detail: `found ${found} of ${patterns.length}${missing.length === 0 ? '' : `; missing: ${missing.join(', ')}`}`,
  };
}
