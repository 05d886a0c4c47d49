import { constants } from 'node:fs';
import { chmod, copyFile, link, mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SHIM_NAME, shimProgram } from '../../attempt/shim/program.ts';

/** What every executor of a run starts from: readable for any user, whatever the checkout lies in. */
export interface StagedProgram {
  readonly folder: string;
  readonly node: string;
  readonly shim: string;
}

/**
 * Puts Node.js and the shim where the agent's user can reach them. The Node.js binary is linked where the file
 * system allows it, else copied.
 */
export async function stageProgram(runFolder: string, node = process.execPath): Promise<StagedProgram> {
  const folder = join(runFolder, 'program');
  await mkdir(folder, { mode: 0o755 });
  await chmod(folder, 0o755);
  const staged = { folder, node: join(folder, 'node'), shim: join(folder, SHIM_NAME) };
  await Promise.all([
    stageNode(node, staged.node),
    shimProgram().then((text) => writeFile(staged.shim, text, { mode: 0o644 })),
  ]);
  return staged;
}

async function stageNode(from: string, to: string): Promise<void> {
  // A link shares the mode: only where everybody may run it already.
  if (((await stat(from)).mode & 0o005) === 0o005) {
    try {
      await link(from, to);
      return;
    } catch {
      // another file system, or links to it are forbidden
    }
  }
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  await chmod(to, 0o755);
}
