import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { RuntimeSpec } from '../../api/benchmark-run.ts';
import { errnoOf, type InputProblem } from '../../api/errors.ts';
import type { ScriptStep } from '../../api/scenario.ts';
import type { SuiteIndexEntry } from '../../api/suite-index.ts';
import type { Behaviour } from '../../api/vocabulary.ts';
import { didYouMean } from '../../files/suggest.ts';
import { readScript } from '../../suite/script-file.ts';
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
  if (suiteIds === undefined) return problems;
  for (const id of Object.keys(runtime.behaviours)) {
    if (suiteIds.includes(id)) continue;
    problems.push({
      field: `spec.runtime.behaviours.${id}`,
      message: 'the suite has no scenario of this id',
      remedy: didYouMean(id, suiteIds) ?? 'Remove the entry.',
    });
  }
  return problems;
}

/**
 * The steps of a behaviour's script in a scenario's folder of scripts.
 *
 * @returns the steps, or undefined when the scenario has no such script
 * @throws InvalidInputError with file and line of every wrong step
 */
export async function readScriptOf(
  folder: string,
  behaviour: Behaviour,
): Promise<readonly ScriptStep[] | undefined> {
  const path = join(folder, `${behaviour}.yaml`);
  try {
    await access(path);
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
  }
  return await readScript(path);
}

/** The problem of a scenario that has no script for the behaviour that a run asks for. */
export function missingScript(scenarioId: string, behaviour: Behaviour, script: Behaviour): InputProblem {
  return {
    file: `scripted/${scenarioId}/${script}.yaml`,
    field: 'spec.runtime.behaviour',
    message: `scenario ${scenarioId} has no script for behaviour ${behaviour}`,
    remedy: 'Write the file, or give the scenario another behaviour under spec.runtime.behaviours.',
  };
}
