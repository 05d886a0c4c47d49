import type { Check } from '../../api/scenario.ts';
import { isMapping, lowerCase, pythonEquals, pythonStr, searchableText, valueAt } from '../python-values.ts';
import type { CheckContext, Credit } from './check-context.ts';

type CheckOf<Type extends Check['type']> = Extract<Check, { type: Type }>;

const CONTAINS = '_contains';
const PREFIX = '_prefix';

/** The best item at `path` (an object counts as a list of one) earns the share of the conditions it meets. */
export function gradeAuditStateMatch(check: CheckOf<'audit_state_match'>, context: CheckContext): Credit {
  const found = valueAt(context.auditState, check.path, []);
  const items: readonly unknown[] = Array.isArray(found) ? found : isMapping(found) ? [found] : [];
  const conditions = Object.entries(check.match);
  if (conditions.length === 0) return { ratio: 0, detail: 'no condition is given' };
  const best = items
    .map((item) => conditions.filter(([key, expected]) => meets(item, key, expected)).length)
    .reduce((most, met) => Math.max(most, met), 0);
  return {
    ratio: best / conditions.length,
    detail: `best of ${items.length} items at ${check.path} meets ${best} of ${conditions.length} conditions`,
  };
}

function meets(item: unknown, key: string, expected: unknown): boolean {
  if (key.endsWith(CONTAINS)) {
    const actual = valueAt(item, key.slice(0, -CONTAINS.length));
    return actual !== null && contains(actual, expected);
  }
  if (key.endsWith(PREFIX)) {
    const actual = valueAt(item, key.slice(0, -PREFIX.length));
    return actual !== null && lowerCase(pythonStr(actual)).startsWith(lowerCase(pythonStr(expected)));
  }
  return pythonEquals(valueAt(item, key), expected);
}

/** Of a list: membership of the value, or of every value of a list. Of anything else: its text contains them. */
function contains(actual: unknown, expected: unknown): boolean {
  const wanted: readonly unknown[] = Array.isArray(expected) ? expected : [expected];
  if (Array.isArray(actual)) {
    return wanted.every((value) => actual.some((member) => pythonEquals(member, value)));
  }
  const text = searchableText(actual);
  return wanted.every((value) => text.includes(lowerCase(pythonStr(value))));
}
