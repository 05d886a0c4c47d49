import { z } from 'zod';
import type { Check } from '../api/scenario.ts';
import { CHECK_CATEGORIES, SEVERITIES } from '../api/vocabulary.ts';

/**
 * Checks as suite files write them: parameters with their aliases and defaults
 * (docs/reference/scenario.md, "Checks"), turned into the one form that scoring reads.
 */
const text = z.string().min(1);
const count = z.int().nonnegative();

/** A needle. Whole numbers and booleans are taken as the text Python makes of them; case never matters. */
const needle = z.union([z.string(), z.int(), z.boolean()]).transform(String);
const oneOrMore = z.union([needle.transform((one) => [one]), z.array(needle).min(1)]);

const base = {
  id: text,
  points: z.number().nonnegative().default(1),
  category: z.enum(CHECK_CATEGORIES).default('correctness'),
  severity: z.enum(SEVERITIES).default('major'),
  description: z.string().default(''),
};
const needles = { pattern: oneOrMore.optional(), patterns: z.array(needle).min(1).optional() };
const path = z.string().nullable().default(null);

const rawCheckSchema = z.discriminatedUnion('type', [
  z.strictObject({
    ...base,
    type: z.literal('tool_called'),
    tool: text,
    min_count: count.optional(),
    min_calls: count.optional(),
    max_count: count.optional(),
    max_calls: count.optional(),
  }),
  z.strictObject({ ...base, type: z.literal('tool_not_called'), tool: text }),
  z.strictObject({ ...base, type: z.literal('tool_arg_contains'), tool: text, ...needles, path }),
  z.strictObject({ ...base, type: z.literal('tool_arg_excludes'), tool: text, pattern: needle, path }),
  z.strictObject({
    ...base,
    type: z.literal('tool_response_contains'),
    tool: text,
    ...needles,
    path: z.string().default('result'),
  }),
  z.strictObject({
    ...base,
    type: z.literal('tool_response_excludes'),
    tool: text,
    pattern: needle,
    /** Accepted because suites write it; the check reads the whole result. */
    path: z.string().optional(),
  }),
  z.strictObject({ ...base, type: z.literal('tool_sequence'), tools: z.array(text) }),
  z.strictObject({ ...base, type: z.literal('tool_called_before'), first: text, second: text }),
  z.strictObject({
    ...base,
    type: z.literal('tool_count'),
    tool: text,
    min_count: count.default(0),
    max_count: count.nullable().default(null),
  }),
  z.strictObject({
    ...base,
    type: z.literal('tool_count_score'),
    tool: text,
    target_count: count.optional(),
    ideal_count: count.optional(),
    tolerance: count.default(0),
  }),
  z.strictObject({ ...base, type: z.literal('response_contains'), ...needles }),
  z.strictObject({ ...base, type: z.literal('response_excludes'), ...needles }),
  z.strictObject({ ...base, type: z.literal('response_length_max'), max_length: count }),
  z.strictObject({ ...base, type: z.literal('file_exists'), path: text }),
  z.strictObject({ ...base, type: z.literal('file_contains'), path: text, ...needles }),
  z.strictObject({
    ...base,
    type: z.literal('tool_recovered_after_error'),
    tool: text,
    error_code_at_least: z.int().default(400),
  }),
  z.strictObject({
    ...base,
    type: z.literal('assistant_asks_clarification'),
    patterns: z.array(needle).default([]),
  }),
  z.strictObject({
    ...base,
    type: z.literal('audit_state_match'),
    path: text,
    match: z.record(z.string(), z.unknown()).default({}),
  }),
]);
type RawCheck = z.output<typeof rawCheckSchema>;

export const checkFileSchema = rawCheckSchema.superRefine(refuseContradictions).transform(toCheck);

/** Pairs of a parameter and its alias: both at once would leave one unread. */
const ALIASES: readonly (readonly [string, string])[] = [
  ['pattern', 'patterns'],
  ['min_count', 'min_calls'],
  ['max_count', 'max_calls'],
  ['target_count', 'ideal_count'],
];
const NEEDS_NEEDLE: ReadonlySet<string> = new Set([
  'tool_arg_contains',
  'tool_response_contains',
  'response_contains',
  'response_excludes',
  'file_contains',
]);

function refuseContradictions(raw: RawCheck, context: z.RefinementCtx): void {
  const given = (key: string) => (raw as Readonly<Record<string, unknown>>)[key] !== undefined;
  for (const [name, alias] of ALIASES) {
    if (given(name) && given(alias)) {
      context.addIssue({
        code: 'custom',
        path: [alias],
        message: `says the same as ${name}`,
        params: { remedy: `Keep one of ${name} and ${alias}.` },
      });
    }
  }
  if (NEEDS_NEEDLE.has(raw.type) && !given('pattern') && !given('patterns')) {
    context.addIssue({
      code: 'custom',
      path: ['patterns'],
      message: 'is required but missing',
      params: { remedy: 'Add pattern (one text) or patterns (a list).' },
    });
  }
}

function toCheck(raw: RawCheck): Check {
  const { id, points, category, severity, description } = raw;
  const common = { id, points, category, severity, description };
  const patterns = (from: { pattern?: string[] | undefined; patterns?: string[] | undefined }) =>
    from.pattern ?? from.patterns ?? [];
  switch (raw.type) {
    case 'tool_called':
      return {
        ...common,
        type: raw.type,
        tool: raw.tool,
        min_count: raw.min_count ?? raw.min_calls ?? 1,
        max_count: raw.max_count ?? raw.max_calls ?? null,
      };
    case 'tool_arg_contains':
      return { ...common, type: raw.type, tool: raw.tool, patterns: patterns(raw), path: raw.path };
    case 'tool_response_contains':
      return { ...common, type: raw.type, tool: raw.tool, patterns: patterns(raw), path: raw.path };
    case 'tool_response_excludes':
      return { ...common, type: raw.type, tool: raw.tool, pattern: raw.pattern };
    case 'tool_count_score':
      return {
        ...common,
        type: raw.type,
        tool: raw.tool,
        target_count: raw.target_count ?? raw.ideal_count ?? 1,
        tolerance: raw.tolerance,
      };
    case 'response_contains':
    case 'response_excludes':
      return { ...common, type: raw.type, patterns: patterns(raw) };
    case 'file_contains':
      return { ...common, type: raw.type, path: raw.path, patterns: patterns(raw) };
    case 'tool_not_called':
    case 'tool_arg_excludes':
    case 'tool_sequence':
    case 'tool_called_before':
    case 'tool_count':
    case 'response_length_max':
    case 'file_exists':
    case 'tool_recovered_after_error':
    case 'assistant_asks_clarification':
    case 'audit_state_match':
      return raw;
  }
}
