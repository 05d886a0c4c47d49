import type { BenchmarkRunSpec } from '../api/benchmark-run.ts';
import { InvalidInputError, type InputProblem } from '../api/errors.ts';
import { MUTABLE_FIELDS } from '../api/frozen-rules.ts';
import type { RunRecord } from '../api/run.ts';
import { canonicalJson } from '../files/digest.ts';
import { isObject } from './is-object.ts';

/** Dotted fields in which two specs differ, frozen ones only, at the first level where they do. */
export function frozenDifferences(stored: unknown, given: unknown): string[] {
  return differences(asJson(stored), asJson(given), '').filter(
    (field) => !MUTABLE_FIELDS.some((mutable) => field === mutable || field.startsWith(`${mutable}.`)),
  );
}

/**
 * A run that is resumed must be the run that was started.
 *
 * @throws InvalidInputError naming each frozen field that differs
 */
export function assertSameRun(record: RunRecord, name: string, spec: BenchmarkRunSpec, root: string): void {
  const problems: InputProblem[] = frozenDifferences(record.spec, spec).map((field) => ({
    file: root,
    field: `spec.${field}`,
    message: 'differs from the run that was started in this folder',
    remedy: 'Give another folder with -o, or undo the change.',
  }));
  if (record.name !== name) {
    problems.unshift({
      file: root,
      field: 'metadata.name',
      message: `this folder holds the run ${record.name}, not ${name}`,
      remedy: 'Give another folder with -o.',
    });
  }
  const [first, ...rest] = problems;
  if (first !== undefined) throw new InvalidInputError([first, ...rest]);
}

function differences(a: unknown, b: unknown, path: string): string[] {
  if (canonicalJson(a) === canonicalJson(b)) return [];
  if (!isObject(a) || !isObject(b)) return [path];
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Array.from(keys)
    .sort()
    .flatMap((key) => differences(a[key] ?? null, b[key] ?? null, path === '' ? key : `${path}.${key}`));
}

/** As it reads back from a file: undefined members are gone. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
