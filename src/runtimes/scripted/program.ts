import { readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';

/** Name of the scripted agent's program in the program folder. */
export const PROGRAM_NAME = 'agent.mjs';

/** The modules of the program; the first is the one that is run. */
const MODULES = ['agent', 'model-call'];

/** One file of the program, as it lies in the program folder. */
export interface ProgramFile {
  readonly name: string;
  readonly content: string;
}

/**
 * The scripted agent as files of plain JavaScript: its modules with their types blanked out, so that line numbers
 * stay. They must run on the Node.js of the executor, which may be older than ours and strip no types.
 */
export async function scriptedProgram(): Promise<readonly ProgramFile[]> {
  program ??= Promise.all(MODULES.map(stripped));
  return await program;
}

/** Every attempt of a run stages the same text. */
let program: Promise<readonly ProgramFile[]> | undefined;

async function stripped(module: string): Promise<ProgramFile> {
  const source = await readFile(new URL(`${module}.ts`, import.meta.url), 'utf8');
  const text = stripTypeScriptTypes(source);
  const content = MODULES.reduce(
    (code, other) => code.replaceAll(`'./${other}.ts'`, `'./${other}.mjs'`),
    text,
  );
  return { name: `${module}.mjs`, content };
}
