import { scriptSchema, type ScriptStep } from '../api/scenario.ts';
import { validateYaml } from '../files/problems.ts';
import { readYamlFile } from '../files/yaml.ts';

/**
 * Reads the steps of one behaviour of the scripted runtime.
 *
 * @param file name for messages
 * @throws InvalidInputError with file and line of every wrong step
 */
export async function readScript(path: string, file = path): Promise<readonly ScriptStep[]> {
  return validateYaml(scriptSchema, await readYamlFile(path, { file }));
}
