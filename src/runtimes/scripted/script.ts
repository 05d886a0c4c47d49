import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LineCounter, parseDocument } from 'yaml';
import type { RuntimeSpec } from '../../api/benchmark-run.ts';
import { errnoOf, InvalidInputError, type InputProblem } from '../../api/errors.ts';
import { scriptSchema, type ScriptStep } from '../../api/scenario.ts';
import type { SuiteIndexEntry } from '../../api/suite-index.ts';
import type { Behaviour } from '../../api/vocabulary.ts';
import { closestWord } from '../closest-word.ts';
import { behaviourOf, SCRIPT_OF } from './config.ts';

/**
 * What must be mended before a run of the scripted runtime is started: scenarios whose behaviour has no script,
 * and behaviours of scenarios that the suite does not have. A run checks it before any trial.
 *
 * @param scenarios the scenarios that are to run
 * @param suiteIds every id of the suite, selected or not; without it unknown ids are not looked for
 */
export function scriptProblems(
  runtime: RuntimeSpec,
  scenarios: readonly Pick<SuiteIndexEntry, 'id' | 'scripted'>[],
  suiteIds?: readonly string[],
): readonly InputProblem[] {
  const problems: InputProblem[] = [];
  for (const { id, scripted } of scenarios) {
    const behaviour = behaviourOf(runtime, id);
    const script = SCRIPT_OF[behaviour];
    if (script === null || scripted.includes(script)) continue;
    problems.push(missingScript(id, behaviour, script));
  }
  for (const id of suiteIds === undefined ? [] : Object.keys(runtime.behaviours)) {
    if (suiteIds?.includes(id) !== false) continue;
    const suggestion = closestWord(id, suiteIds);
    problems.push({
      field: `spec.runtime.behaviours.${id}`,
      message: 'the suite has no scenario of this id',
      remedy: suggestion === undefined ? 'Remove the entry.' : `Did you mean ${suggestion}?`,
    });
  }
  return problems;
}

/**
 * The steps of `<name>.yaml` in a scenario's folder of scripts.
 *
 * @returns the steps, or undefined when there is no such file
 * @throws InvalidInputError with file, line and field when it is not a script
 */
export async function readScript(folder: string, name: string): Promise<readonly ScriptStep[] | undefined> {
  const file = join(folder, `${name}.yaml`);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
  return parseScript(text, file);
}

/** Parses the text of a script; `file` names it in errors. */
export function parseScript(text: string, file: string): readonly ScriptStep[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, version: '1.1' });
  const [syntaxError] = document.errors;
  if (syntaxError !== undefined) {
    const line = lines.linePos(syntaxError.pos[0]).line;
    throw new InvalidInputError({ file, line, message: syntaxError.message.split('\n')[0] ?? 'is not YAML' });
  }
  const parsed = scriptSchema.safeParse(document.toJS({ maxAliasCount: 100 }));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue): InputProblem => {
    const node: unknown = document.getIn(issue.path.slice(0, 1), true);
    const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined;
    const start: unknown = Array.isArray(range) ? range[0] : undefined;
    return {
      file,
      ...(typeof start === 'number' ? { line: lines.linePos(start).line } : {}),
      field: issue.path.length === 0 ? 'script' : `step ${Number(issue.path[0]) + 1}`,
      message: issue.code === 'invalid_union' ? 'is not a step' : issue.message,
      remedy: 'A script is a list of write, read, edit, shell, message, wait and fail steps.',
    };
  });
  const [first, ...rest] = problems;
  throw new InvalidInputError(first === undefined ? { file, message: 'is not a script' } : [first, ...rest]);
}

export function missingScript(scenarioId: string, behaviour: Behaviour, script: Behaviour): InputProblem {
  return {
    file: `scripted/${scenarioId}/${script}.yaml`,
    field: 'spec.runtime.behaviour',
    message: `scenario ${scenarioId} has no script for behaviour ${behaviour}`,
    remedy: 'Write the file, or give the scenario another behaviour under spec.runtime.behaviours.',
  };
}
