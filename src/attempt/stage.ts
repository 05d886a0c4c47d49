import { constants } from 'node:fs';
import { chmod, copyFile, lchown, lstat, mkdir, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { InfrastructureError } from '../api/errors.ts';
import { writeFileDurably } from '../files/durable.ts';
import type { TurnFile } from '../runtimes/adapter.ts';

/**
 * Copies a folder of the frozen suite to where the agent works, and gives it to the agent's user. It is called
 * before any process of the agent exists; the suite's own folder holds nothing but files and folders.
 *
 * @param target is made when missing
 * @throws InfrastructureError `StagingFailed` for a link or special file; system errors as they are
 */
export async function stageFolder(
  source: string,
  target: string,
  owner: { readonly uid: number; readonly gid: number } | null,
): Promise<void> {
  await mkdir(target, { recursive: true });
  if (owner !== null) await lchown(target, owner.uid, owner.gid);
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const [from, to] = [join(source, entry.name), join(target, entry.name)];
    if (entry.isDirectory()) {
      await stageFolder(from, to, owner);
    } else if (entry.isFile()) {
      const executable = ((await lstat(from)).mode & 0o100) !== 0;
      await copyFile(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
      await chmod(to, executable ? 0o755 : 0o644);
      if (owner !== null) await lchown(to, owner.uid, owner.gid);
    } else {
      throw new InfrastructureError('StagingFailed', `${from} is neither a file nor a folder`);
    }
  }
}

/**
 * Puts the programs among an adapter's files where the agent can run but not change them. Attempts of one run may
 * share the folder: each file appears whole, and all of them would write the same bytes.
 *
 * @returns the other files, which the agent's user has to own
 */
export async function stagePrograms(
  programFolder: string,
  files: readonly TurnFile[],
): Promise<readonly TurnFile[]> {
  const isProgram = ({ path }: TurnFile) => dirname(path) === programFolder;
  for (const { path, mode, content } of files.filter(isProgram)) {
    await writeFileDurably(path, content, mode);
    // The mode of a new file is cut by the umask of whoever runs us.
    await chmod(path, mode);
  }
  return files.filter((file) => !isProgram(file));
}
