import { lstat, realpath, stat } from 'node:fs/promises';
import { dirname, join, posix, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { z } from 'zod';
import { InvalidInputError, type InputProblem } from '../api/errors.ts';
import type { SuiteFormat } from '../api/vocabulary.ts';
import { problemsOf } from '../files/problems.ts';
import { readYamlFile, type YamlSource } from '../files/yaml.ts';
import { findYamlFiles } from './find-files.ts';
import type { LoadedScenario, LoadedSuite, LoadedTask } from './loaded-suite.ts';
import { privacyProblems } from './privacy.ts';
import { scenarioFileSchema } from './scenario-file.ts';
import { taskFileSchema } from './task-file.ts';

export interface LoadSuiteOptions {
  /**
   * Tasks: where the private values that `.privacy` files name are looked up. Absent: `.privacy` is not read, as
   * for listing.
   */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** The folder that holds scenarios/ and checkers/ beside the program. */
export function builtinSuiteRoot(): string {
  return resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');
}

/**
 * Loads every scenario or task of a suite; opens no file but the YAML files themselves.
 *
 * @param path a folder of scenario files, or one with scenarios/ or tasks/
 * @throws InvalidInputError with all problems of all files
 */
export async function loadSuite(
  path: string,
  format: SuiteFormat = 'auto',
  options: LoadSuiteOptions = {},
): Promise<LoadedSuite> {
  const root = await suiteRoot(path);
  const sources = await readSources(root, path, format);
  const problems: InputProblem[] = [];
  const parsed: YamlSource[] = [];
  for (const source of sources) {
    if (source instanceof InvalidInputError) problems.push(...source.problems);
    else parsed.push(source);
  }
  const resolved = format === 'auto' ? detectFormat(parsed) : format;
  const suite: LoadedSuite =
    resolved === 'scenario'
      ? { format: 'scenario', root, scenarios: loadScenarios(parsed, problems) }
      : { format: 'task', root, tasks: loadTasks(parsed, problems) };
  if (suite.format === 'task' && options.environment !== undefined) {
    for (const { task } of suite.tasks) {
      problems.push(...(await privacyProblems(task, root, options.environment)));
    }
  }
  const [first, ...rest] = problems.sort(byPlace);
  if (first !== undefined) throw new InvalidInputError([first, ...rest]);
  return suite;
}

function byPlace(a: InputProblem, b: InputProblem): number {
  const [one = '', other = ''] = [a.file, b.file];
  return one === other ? (a.line ?? 0) - (b.line ?? 0) : one < other ? -1 : 1;
}

async function suiteRoot(path: string): Promise<string> {
  try {
    const root = await realpath(path);
    if ((await stat(root)).isDirectory()) return root;
  } catch {
    throw new InvalidInputError({
      file: path,
      message: 'there is no such suite',
      remedy: 'Give a folder of scenario files, or one with scenarios/ in it.',
    });
  }
  throw new InvalidInputError({
    file: path,
    message: 'is not a folder',
    remedy: 'Give the folder of the suite.',
  });
}

/** Every suite file, parsed or with what is wrong with it; data files of scenarios are left out. */
async function readSources(
  root: string,
  given: string,
  format: SuiteFormat,
): Promise<(YamlSource | InvalidInputError)[]> {
  const candidates =
    format === 'task' ? ['tasks'] : format === 'scenario' ? ['scenarios'] : ['scenarios', 'tasks'];
  const folder = (await firstFolder(root, candidates)) ?? '';
  const files = (await findYamlFiles(join(root, folder))).map((file) => posix.join(folder, file));
  const sources = new Map<string, YamlSource | InvalidInputError>();
  const claimed: string[] = [];
  const inClaimed = (file: string) => claimed.some((dir) => file.startsWith(`${dir}/`));
  // Files nearer to the root name the folders of data below them: those hold YAML of the workspace, not scenarios.
  const byDepth = [...files].sort((a, b) => a.split('/').length - b.split('/').length);
  for (const file of byDepth) {
    if (inClaimed(file)) continue;
    const source = await readSource(root, file);
    sources.set(file, source);
    if (!(source instanceof InvalidInputError)) claimed.push(...dataFolders(source, file));
  }
  const kept = files.flatMap((file) => {
    const source = sources.get(file);
    return source === undefined || inClaimed(file) ? [] : [source];
  });
  if (kept.length === 0) {
    throw new InvalidInputError({
      file: given,
      message: 'holds no scenario and no task: there is no YAML file in it',
      remedy: 'Give a folder of scenario files, or one with scenarios/ in it.',
    });
  }
  return kept;
}

async function readSource(root: string, file: string): Promise<YamlSource | InvalidInputError> {
  const path = join(root, file);
  if ((await lstat(path)).isSymbolicLink()) return linkError(file);
  try {
    return await readYamlFile(path, { file });
  } catch (error) {
    if (error instanceof InvalidInputError) return error;
    throw error;
  }
}

function linkError(file: string): InvalidInputError {
  return new InvalidInputError({
    file,
    message: 'is a link; a suite holds its files itself',
    remedy: 'Replace the link by what it points to.',
  });
}

async function firstFolder(root: string, names: readonly string[]): Promise<string | undefined> {
  for (const name of names) {
    const found = await lstat(join(root, name)).catch(() => undefined);
    if (found?.isSymbolicLink() === true) throw linkError(name);
    if (found?.isDirectory() === true) return name;
  }
  return undefined;
}

/** Folders that a scenario takes its data from, relative to the root; never one that holds the file itself. */
function dataFolders(source: YamlSource, file: string): string[] {
  const { value } = source;
  if (typeof value !== 'object' || value === null) return [];
  const fields = value as Readonly<Record<string, unknown>>;
  const files: unknown[] = Array.isArray(fields['workspace_files']) ? fields['workspace_files'] : [];
  const named: unknown[] = [
    fields['workspace_seed_dir'],
    fields['hidden_dir'],
    fields['scripted_dir'],
    ...files.map((entry) =>
      typeof entry === 'object' && entry !== null && 'source' in entry ? entry.source : entry,
    ),
  ];
  // foo/ beside foo.yaml belongs to that scenario, whatever lies in it.
  const own = file.replace(/\.ya?ml$/, '');
  const found = named.flatMap((path) => {
    if (typeof path !== 'string' || path === '' || posix.isAbsolute(path)) return [];
    // As when it is resolved: beside the file, or from the suite's root.
    return [posix.join(posix.dirname(file), path), posix.normalize(path)]
      .map((folder) => folder.replace(/\/$/, ''))
      .filter((folder) => folder !== '.' && !folder.startsWith('..') && !file.startsWith(`${folder}/`));
  });
  return [own, ...found];
}

/** By the fields that only one of the formats has; scenarios when nothing tells. */
function detectFormat(sources: readonly YamlSource[]): 'scenario' | 'task' {
  const has = (source: YamlSource, ...names: string[]) =>
    typeof source.value === 'object' &&
    source.value !== null &&
    names.some((name) => Object.hasOwn(source.value as object, name));
  const tasks = sources.filter((source) => has(source, 'task_id', 'task') && !has(source, 'id', 'dimension'));
  return tasks.length * 2 > sources.length ? 'task' : 'scenario';
}

function loadScenarios(sources: readonly YamlSource[], problems: InputProblem[]): LoadedScenario[] {
  return loadAll(sources, scenarioFileSchema, 'id', problems).map(({ value, ...declared }) => ({
    ...declared,
    id: value.id,
    scenario: value,
  }));
}

function loadTasks(sources: readonly YamlSource[], problems: InputProblem[]): LoadedTask[] {
  return loadAll(sources, taskFileSchema, 'task_id', problems).map(({ value, ...declared }) => ({
    ...declared,
    id: value.task_id,
    task: value,
  }));
}

function loadAll<Schema extends z.ZodType>(
  sources: readonly YamlSource[],
  schema: Schema,
  idField: string,
  problems: InputProblem[],
) {
  const fileOfId = new Map<string, string>();
  return sources.flatMap((source) => {
    const { file, lineOf } = source;
    if (typeof source.value !== 'object' || source.value === null || Array.isArray(source.value)) {
      problems.push({
        file,
        line: 1,
        message: 'holds no mapping of fields',
        remedy: `Write ${idField} and the other fields, or move the file out of the suite.`,
      });
      return [];
    }
    const written = source.value as Readonly<Record<string, unknown>>;
    const id = written[idField];
    const other = typeof id === 'string' ? fileOfId.get(id) : undefined;
    if (typeof id === 'string' && other === undefined) fileOfId.set(id, file);
    if (other !== undefined) {
      problems.push({
        file,
        line: lineOf([idField]),
        field: idField,
        message: `"${String(id)}" is the id of ${other} too`,
        remedy: 'Give each an id of its own.',
      });
    }
    const result = schema.safeParse(source.value);
    if (!result.success) {
      problems.push(...problemsOf(result.error, source, schema));
      return [];
    }
    return [{ file, lineOf, written, value: result.data }];
  });
}
