/**
 * What the built-in checkers share: comparing parsed records, and seeing that files which were to be left alone
 * were left alone.
 */
import { createHash } from 'node:crypto';
import { asObject, readHiddenJson, readText, type CheckerInput } from './checker.ts';

/** hidden/expected.json: a free `answer`, and the SHA-256 of each file that must not change. */
export interface Expected {
  readonly answer: Readonly<Record<string, unknown>>;
  readonly originals: Readonly<Record<string, string>>;
}

/** The scenario's expected values; a malformed file is a mistake of the suite and throws. */
export function readExpected(input: CheckerInput): Expected {
  const file = asObject(readHiddenJson(input, 'expected.json'));
  const answer = asObject(file?.['answer']);
  const originals = asObject(file?.['originals']);
  if (answer === undefined || originals === undefined)
    throw new Error('expected.json needs the objects answer and originals');
  return { answer, originals: originals as Readonly<Record<string, string>> };
}

/** One violation for each original that was changed or removed. */
export function changedOriginals(input: CheckerInput, expected: Expected): string[] {
  return Object.entries(expected.originals).flatMap(([path, digest]) => {
    const text = readText(input, path);
    if (text === undefined) return [`${path} was to be left as it is and is gone`];
    const same = createHash('sha256').update(text).digest('hex') === digest;
    return same ? [] : [`${path} was to be left as it is and was changed`];
  });
}

/** Deep equality of JSON values; the order of an object's keys does not count, the order of a list does. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => sameJson(item, b[index]));
  }
  const left = asObject(a);
  const right = asObject(b);
  if (left === undefined || right === undefined) return a === b;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => key in right && sameJson(left[key], right[key]))
  );
}

/** What a workspace file says a value is, shortened for a checkpoint's detail. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length > 160 ? `${text.slice(0, 157)}...` : text;
}

/**
 * A simple CSV file (no quotes, comma as separator) as one record a line. Undefined unless its first line is
 * exactly `header` and each other line has as many cells. Empty lines and carriage returns do not count.
 */
export function readCsv(
  input: CheckerInput,
  path: string,
  header: readonly string[],
): readonly Readonly<Record<string, string>>[] | undefined {
  const lines = readText(input, path)
    ?.split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const [first, ...rest] = lines ?? [];
  if (first !== header.join(',')) return undefined;
  const rows = rest.map((line) => line.split(',').map((cell) => cell.trim()));
  if (rows.some((cells) => cells.length !== header.length)) return undefined;
  return rows.map((cells) => Object.fromEntries(header.map((name, index) => [name, cells[index] ?? ''])));
}

/** Lines of a text file without those that are empty; undefined when there is no such file. */
export function readLines(input: CheckerInput, path: string): readonly string[] | undefined {
  return readText(input, path)
    ?.split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
