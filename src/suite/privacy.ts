import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf, type InputProblem } from '../api/errors.ts';
import { decodeUtf8 } from '../files/yaml.ts';
import type { Task } from './task-file.ts';

const PLACEHOLDER =
  /^(?:<.*>|\$\{.*\}|\[.*\]|x{3,}|\*{3,}|\.{3,}|change[-_ ]?me|placeholder|todo|tbd|none|null|dummy|example|your[-_ ].*|.*[-_ ]here|replace[-_ ].*)$/i;

/** Folder of a task's resources, relative to the suite's root. */
export function injectionDir(task: Pick<Task, 'category' | 'task_id'>): string {
  return join('injection', task.category, task.task_id);
}

/**
 * What is wrong with the private values a task needs: its `.privacy` file lists names of environment variables,
 * one a line, `#` begins a comment. A value that is missing, empty or plainly a placeholder is a problem.
 *
 * @param root absolute path of the suite
 * @param environment the values, e.g. `process.env`; they never appear in a problem
 */
export async function privacyProblems(
  task: Pick<Task, 'category' | 'task_id'>,
  root: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<InputProblem[]> {
  const file = join(injectionDir(task), '.privacy');
  const names = await readNames(join(root, file), file);
  const problems: InputProblem[] = [];
  for (const { name, line } of names) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      problems.push({
        file,
        line,
        message: `"${name.slice(0, 60)}" is not the name of an environment variable`,
        remedy: 'Write one name a line, without its value.',
      });
      continue;
    }
    const value = environment[name];
    const wrong = value === undefined ? 'is missing' : valueProblem(value);
    if (wrong === undefined) continue;
    problems.push({
      file,
      line,
      field: name,
      message: `the value that task ${task.task_id} needs ${wrong}`,
      remedy: `Set ${name} in the environment to a real value.`,
    });
  }
  return problems;
}

function valueProblem(value: string): string | undefined {
  if (value.trim() === '') return 'is empty';
  return PLACEHOLDER.test(value.trim()) ? 'is a placeholder' : undefined;
}

async function readNames(path: string, file: string): Promise<{ name: string; line: number }[]> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return [];
    throw error;
  }
  return decodeUtf8(bytes, file)
    .split('\n')
    .map((text, index) => ({ name: text.replace(/#.*$/, '').trim(), line: index + 1 }))
    .filter(({ name }) => name !== '');
}
