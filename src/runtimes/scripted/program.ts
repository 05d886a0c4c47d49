import { readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';

/** Name of the scripted agent's program in the program folder. */
export const PROGRAM_NAME = 'agent.mjs';

/**
 * The scripted agent as one file of plain JavaScript: agent.ts with its types blanked out, so that line numbers
 * stay. It must run on the Node.js of the executor, which may be older than ours and strip no types.
 */
export async function scriptedProgram(): Promise<string> {
  program ??= readFile(new URL('agent.ts', import.meta.url), 'utf8').then((source) =>
    stripTypeScriptTypes(source),
  );
  return await program;
}

/** Every attempt of a run stages the same text. */
let program: Promise<string> | undefined;
