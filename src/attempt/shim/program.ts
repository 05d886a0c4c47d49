import { readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';

/** Name of the shim in the program folder of an executor. */
export const SHIM_NAME = 'shim.mjs';

/** The shim as one file of plain JavaScript: it must run on the Node.js of the executor, which may be older than ours. */
export async function shimProgram(): Promise<string> {
  program ??= readFile(new URL('shim.ts', import.meta.url), 'utf8').then((source) =>
    stripTypeScriptTypes(source),
  );
  return await program;
}

/** Every executor of a process starts from the same text. */
let program: Promise<string> | undefined;
