import type { z } from 'zod';
import { InvalidInputError, type InputProblem } from '../api/errors.ts';
import { didYouMean, nearest } from './suggest.ts';
import type { YamlSource } from './yaml.ts';

type Place = readonly (string | number)[];
type Issue = z.core.$ZodIssue;

/** What a schema says about one place: the fields of an object, or the words of a choice. */
interface Expectation {
  readonly fields: readonly string[];
  readonly words: readonly string[];
}

/**
 * Validates a parsed YAML document.
 *
 * @throws InvalidInputError with every problem, each with file, line, dotted field and, for a misspelt field or
 * word, the one that was probably meant
 */
export function validateYaml<Schema extends z.ZodType>(schema: Schema, source: YamlSource): z.output<Schema> {
  const result = schema.safeParse(source.value);
  if (result.success) return result.data;
  const [first, ...rest] = problemsOf(result.error, source, schema);
  throw new InvalidInputError(
    first === undefined ? { file: source.file, message: 'is invalid' } : [first, ...rest],
  );
}

/** The issues of a failed validation as problems of the file. `schema` is asked for what would have been right. */
export function problemsOf(error: z.ZodError, source: YamlSource, schema: z.ZodType): InputProblem[] {
  const problems = error.issues.flatMap((issue) => problemsOfIssue(issue, [], source, schema));
  const meant = new Set(problems.map(meantField));
  return problems.filter(({ message, field }) => message !== MISSING || !meant.has(field));
}

const MISSING = 'is required but missing';
const UNKNOWN = 'is not a field that exists here';

/** The field that a misspelt one was meant to be: it need not be called missing as well. */
function meantField({ message, field, remedy }: InputProblem): string | undefined {
  const name = message === UNKNOWN ? /^Did you mean "(.*)"\?$/.exec(remedy ?? '')?.[1] : undefined;
  if (field === undefined || name === undefined) return undefined;
  return field.slice(0, field.lastIndexOf('.') + 1) + name;
}

/** `checks[2].type` */
export function fieldName(path: Place): string {
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`))
    .join('');
}

function problemsOfIssue(issue: Issue, parent: Place, source: YamlSource, schema: z.ZodType): InputProblem[] {
  const path = [...parent, ...issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part))];
  const value = valueAt(source.value, path);
  const at = (place: Place, message: string, remedy?: string): InputProblem => ({
    file: source.file,
    line: source.lineOf(place),
    ...(place.length === 0 ? {} : { field: fieldName(place) }),
    message,
    ...(remedy === undefined ? {} : { remedy }),
  });
  switch (issue.code) {
    case 'unrecognized_keys': {
      const { fields } = expectationAt(schema, path, source.value);
      return issue.keys.map((key) =>
        at(
          [...path, key],
          UNKNOWN,
          didYouMean(key, fields) ??
            (fields.length === 0
              ? 'Remove it.'
              : `Remove it; the fields are ${[...fields].sort().join(', ')}.`),
        ),
      );
    }
    case 'invalid_type':
      return [
        value === undefined
          ? at(path, MISSING, `Add it: ${article(issue.expected)}.`)
          : at(
              path,
              `must be ${article(issue.expected)}, not ${describe(value)}`,
              quoteHint(issue.expected, value),
            ),
      ];
    case 'invalid_value':
      return [wordProblem(path, issue.values.map(String), value, at)];
    case 'invalid_union': {
      const { words, fields } = expectationAt(schema, path, source.value);
      if (issue.errors.length === 0) return [wordProblem(path, words, value, at)];
      const branch = likeliestBranch(issue.errors, fields);
      return branch.flatMap((inner) => problemsOfIssue(inner, path, source, schema));
    }
    case 'too_small':
      return [at(path, sizeMessage(issue.origin, 'at least', issue.minimum, issue.inclusive ?? true, value))];
    case 'too_big':
      return [at(path, sizeMessage(issue.origin, 'at most', issue.maximum, issue.inclusive ?? true, value))];
    case 'custom': {
      const remedy: unknown = issue.params?.['remedy'];
      return [at(path, issue.message, typeof remedy === 'string' ? remedy : undefined)];
    }
    case 'invalid_key':
    case 'invalid_element':
      return issue.issues.flatMap((inner) => problemsOfIssue(inner, path, source, schema));
    case 'invalid_format':
    case 'not_multiple_of':
      return [at(path, issue.message)];
  }
}

function wordProblem(
  path: Place,
  words: readonly string[],
  value: unknown,
  at: (place: Place, message: string, remedy?: string) => InputProblem,
): InputProblem {
  const choice = words.length === 1 ? (words[0] ?? '') : `one of ${words.join(', ')}`;
  if (value === undefined) return at(path, MISSING, `Add it: ${choice}.`);
  return at(
    path,
    `must be ${choice}, not ${describe(value)}`,
    typeof value === 'string' ? didYouMean(value, words) : undefined,
  );
}

/**
 * Of the alternatives, the one that was meant: not one of another type altogether, rather one whose missing field
 * stands there misspelt, then the one with the fewest complaints.
 */
function likeliestBranch(
  branches: readonly (readonly Issue[])[],
  fields: readonly string[],
): readonly Issue[] {
  const unknownKeys = (branch: readonly Issue[]) =>
    branch.flatMap((issue) =>
      issue.code === 'unrecognized_keys' && issue.path.length === 0 ? issue.keys : [],
    );
  const wrongType = (branch: readonly Issue[]) =>
    branch.some((issue) => issue.path.length === 0 && issue.code === 'invalid_type') ? 1 : 0;
  const misspelt = (branch: readonly Issue[]) => {
    const missing = new Set(branch.map((issue) => issue.path.join('.')));
    return unknownKeys(branch).filter((key) => missing.has(nearest(key, fields) ?? key)).length;
  };
  const [best] = [...branches].sort(
    (a, b) =>
      wrongType(a) - wrongType(b) ||
      misspelt(b) - misspelt(a) ||
      unknownKeys(a).length - unknownKeys(b).length ||
      a.length - b.length,
  );
  return best ?? [];
}

function sizeMessage(
  origin: string,
  word: 'at least' | 'at most',
  bound: number | bigint,
  inclusive: boolean,
  value: unknown,
): string {
  const units: Record<string, string> = {
    string: ' characters',
    array: ' entries',
    set: ' entries',
    map: ' entries',
  };
  const unit = units[origin];
  if (unit === undefined) {
    const relation = inclusive ? word : word === 'at least' ? 'more than' : 'less than';
    return `must be ${relation} ${bound}, not ${describe(value)}`;
  }
  return word === 'at least' && bound === 1 ? 'must not be empty' : `must have ${word} ${bound}${unit}`;
}

const ARTICLES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
  null: 'empty',
};

function article(type: string): string {
  return ARTICLES[type] ?? `a ${type}`;
}

function describe(value: unknown): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return `"${value.length > 60 ? `${value.slice(0, 57)}...` : value}"`;
  if (typeof value === 'number' || typeof value === 'boolean') return `the ${typeof value} ${String(value)}`;
  return value === undefined ? 'missing' : 'a mapping';
}

/** Unquoted `yes`, `0755` or `1.20` are not text in YAML: the commonest reason for a wrong type. */
function quoteHint(expected: string, value: unknown): string | undefined {
  const scalar = typeof value === 'number' || typeof value === 'boolean';
  return expected === 'string' && scalar ? 'Put it in quotes.' : undefined;
}

function valueAt(value: unknown, path: Place): unknown {
  let current = value;
  for (const part of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    if (!Object.hasOwn(current, part)) return undefined;
    current = (current as Record<string | number, unknown>)[part];
  }
  return current;
}

/** Follows `path` through a schema; where alternatives exist, all of them count unless a discriminator decides. */
function expectationAt(schema: z.ZodType, path: Place, value: unknown): Expectation {
  const schemas = path.reduce<z.core.$ZodType[]>(
    (current, part, index) => current.flatMap((one) => step(one, part, valueAt(value, path.slice(0, index)))),
    [schema],
  );
  const here = schemas.flatMap((one) => alternatives(one, valueAt(value, path)));
  return {
    fields: [...new Set(here.flatMap((one) => Object.keys(shapeOf(one) ?? {})))],
    words: [...new Set(schemas.flatMap((one) => wordsOf(one)))],
  };
}

function step(schema: z.core.$ZodType, part: string | number, value: unknown): z.core.$ZodType[] {
  return alternatives(schema, value).flatMap((one) => {
    const { def } = one._zod as z.core.$ZodTypes['_zod'];
    if (def.type === 'array') return [def.element];
    if (def.type === 'record') return [def.valueType];
    const field = def.type === 'object' ? def.shape[part] : undefined;
    return field === undefined ? [] : [field];
  });
}

function alternatives(schema: z.core.$ZodType, value: unknown): z.core.$ZodType[] {
  const bare = unwrap(schema);
  const { def } = bare._zod as z.core.$ZodTypes['_zod'];
  if (def.type !== 'union') return [bare];
  const options = def.options.flatMap((option) => alternatives(option, value));
  if (!('discriminator' in def) || typeof def.discriminator !== 'string') return options;
  const { discriminator } = def;
  const word = valueAt(value, [discriminator]);
  const chosen = options.filter((option) => {
    const field = shapeOf(option)?.[discriminator];
    return field !== undefined && wordsOf(field).includes(String(word));
  });
  return chosen.length > 0 ? chosen : options;
}

/** Strips optional, default, transform and the like. */
function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  const { def } = schema._zod as z.core.$ZodTypes['_zod'];
  if (def.type === 'pipe') {
    // A preprocessing pipe has its shape behind it, a transforming one before it.
    const { type } = (def.in._zod as z.core.$ZodTypes['_zod']).def;
    return unwrap(type === 'transform' ? def.out : def.in);
  }
  if (def.type === 'lazy') return unwrap(def.getter());
  return 'innerType' in def ? unwrap(def.innerType) : schema;
}

function shapeOf(schema: z.core.$ZodType): Readonly<Record<string, z.core.$ZodType>> | undefined {
  const { def } = unwrap(schema)._zod as z.core.$ZodTypes['_zod'];
  return def.type === 'object' ? def.shape : undefined;
}

function wordsOf(schema: z.core.$ZodType): string[] {
  const { def } = unwrap(schema)._zod as z.core.$ZodTypes['_zod'];
  if (def.type === 'enum') return Object.values(def.entries).map(String);
  if (def.type === 'literal') return def.values.map(String);
  return [];
}
