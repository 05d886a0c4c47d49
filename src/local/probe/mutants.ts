import { access } from 'node:fs/promises';
import { z } from 'zod';
import { errnoOf, InvalidInputError } from '../../api/errors.ts';
import { scriptStepSchema, type ScriptStep } from '../../api/scenario.ts';
import { validateYaml } from '../../files/problems.ts';
import { readYamlFile } from '../../files/yaml.ts';

/** Name of the file of mutants in a scenario's hidden_dir (docs/reference/probe.md). */
export const MUTANTS_FILE = 'mutants.yaml';

const mutantSchema = z
  .strictObject({
    /** The check that this mutant must fail; the mutant's own name when absent. */
    fails: z.string().min(1).optional(),
    /** Each `old` stands exactly once in the texts of the standard answer and is replaced by `new`. */
    edits: z.array(z.strictObject({ old: z.string().min(1), new: z.string() })).default([]),
    /** Steps done after those of the standard answer, before its last message. */
    add: z.array(scriptStepSchema).default([]),
  })
  .refine(({ edits, add }) => edits.length + add.length > 0, 'changes nothing: give edits or add');

const mutantsSchema = z.record(z.string().min(1), mutantSchema);

/** One deliberate mistake in the standard answer. */
export interface Mutant {
  readonly name: string;
  /** Id of the check that has to fail, alone. */
  readonly fails: string;
  readonly edits: readonly { readonly old: string; readonly new: string }[];
  readonly add: readonly ScriptStep[];
}

/**
 * Reads a scenario's mutants.
 *
 * @param file name for messages
 * @returns none when there is no such file
 * @throws InvalidInputError with file and line of every mistake
 */
export async function readMutants(path: string, file = path): Promise<readonly Mutant[]> {
  try {
    await access(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
  const mutants = validateYaml(mutantsSchema, await readYamlFile(path, { file }));
  return Object.entries(mutants).map(([name, mutant]) => ({ ...mutant, name, fails: mutant.fails ?? name }));
}

/**
 * The standard answer with a mutant's mistake in it.
 *
 * @throws InvalidInputError when an edit's text does not stand exactly once in the standard answer: such a
 *   mutant would be another one than its author meant
 */
export function mutate(steps: readonly ScriptStep[], mutant: Mutant): readonly ScriptStep[] {
  const edited = mutant.edits.reduce((current, { old, new: replacement }) => {
    const count = current.reduce((sum, step) => sum + occurrences(step, old), 0);
    if (count !== 1) {
      throw new InvalidInputError({
        file: MUTANTS_FILE,
        field: mutant.name,
        message: `${JSON.stringify(old)} stands ${count} times in the standard answer`,
        remedy: 'Give a text that stands in it exactly once.',
      });
    }
    return current.map((step) => mapTexts(step, (text) => text.split(old).join(replacement)));
  }, steps);
  const lastWork = edited.findLastIndex((step) => !('message' in step));
  return [...edited.slice(0, lastWork + 1), ...mutant.add, ...edited.slice(lastWork + 1)];
}

function occurrences(step: ScriptStep, wanted: string): number {
  let count = 0;
  mapTexts(step, (text) => {
    count += text.split(wanted).length - 1;
    return text;
  });
  return count;
}

/** A step with each of its texts replaced. */
export function mapTexts(step: ScriptStep, map: (text: string) => string): ScriptStep {
  if ('write' in step) return { write: { path: map(step.write.path), content: map(step.write.content) } };
  if ('read' in step) return { read: { path: map(step.read.path) } };
  if ('edit' in step) {
    const { path, old, new: replacement } = step.edit;
    return { edit: { path: map(path), old: map(old), new: map(replacement) } };
  }
  if ('shell' in step) return { shell: map(step.shell) };
  if ('message' in step) return { message: map(step.message) };
  return step;
}
