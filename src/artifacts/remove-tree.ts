import { renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { errnoOf } from '../api/errors.ts';
import type { BytePath } from './byte-path.ts';
import { FolderHandle } from './folder-handle.ts';
import { TimeSlices } from './time-slices.ts';

/**
 * Removes a folder that an agent wrote to, whatever it made of it: links are removed and not followed, closed
 * folders (chmod 000) are opened where they are ours, and nesting has no bound. Ordinary recursive removal fails
 * on a tree whose paths are longer than the system's 4096 bytes; here a folder's subfolders are first moved up
 * into the root, so that no path is ever longer than two names.
 *
 * A folder that is not there is removed already. To be called when every process of the agent is dead.
 *
 * @throws the system's error for what cannot be removed
 */
export async function removeTree(folder: string): Promise<void> {
  const slices = new TimeSlices();
  if (!(await emptyFolder(folder, slices))) return;
  rmdirSync(folder);
}

/** @returns false when there is no folder any more */
async function emptyFolder(path: string, slices: TimeSlices): Promise<boolean> {
  let opened: FolderHandle;
  try {
    opened = FolderHandle.open(path);
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENOENT') return false;
    // A link or a file in the folder's place.
    if (code !== 'ENOTDIR' && code !== 'ELOOP') throw error;
    unlinkSync(path);
    return false;
  }
  using root = opened;
  let moved = 0;
  const folders: BytePath[] = [];
  for (const name of root.names()) {
    await slices.breathe();
    if (root.lstat(name).isDirectory()) folders.push(name);
    else unlinkSync(root.pathOf(name));
  }
  const taken = new Set(folders);
  for (let name = folders.pop(); name !== undefined; name = folders.pop()) {
    using folder = root.descend(name);
    for (const child of folder.names()) {
      await slices.breathe();
      if (!folder.lstat(child).isDirectory()) {
        unlinkSync(folder.pathOf(child));
        continue;
      }
      let up: BytePath;
      do up = `.removed-${moved++}`;
      while (taken.has(up));
      // Moving a folder writes to it (its `..`): it must be open to us first.
      folder.descend(child).close();
      renameSync(folder.pathOf(child), root.pathOf(up));
      folders.push(up);
    }
    rmdirSync(root.pathOf(name));
  }
  return true;
}
