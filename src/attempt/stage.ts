import { constants } from 'node:fs';
import { chmod, copyFile, lchown, lstat, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { InfrastructureError } from '../api/errors.ts';

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
