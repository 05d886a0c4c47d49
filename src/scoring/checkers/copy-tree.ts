import { constants, copyFileSync, type Dirent } from 'node:fs';
import { chmodSync, chownSync, lchownSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Files up to this size are copied at once: the thread pool would cost more than the copy. */
const SMALL_FILE_BYTES = 1024 * 1024;
/** After so many entries the event loop gets a turn. */
const ENTRIES_A_TURN = 200;
const SEPARATOR = Buffer.from('/');

/**
 * Copies the regular files and folders of a tree. Links, devices, sockets and pipes are left out: a link an agent
 * made could lead a checker to the expected answers. Names are bytes, as an agent may have written any.
 *
 * @param owner who the copies belong to; the caller when null
 * @throws system errors of the copying
 */
export async function copyTree(source: string, target: string, owner: Owner | null): Promise<void> {
  mkdirSync(target, { mode: 0o700 });
  const own = (path: Buffer, mode: number) => {
    if (owner === null) {
      chmodSync(path, mode);
      return;
    }
    lchownSync(path, owner.uid, owner.gid);
    chmodSync(path, mode);
  };
  let entries = 0;
  const waiting: [Buffer, Buffer][] = [[Buffer.from(source), Buffer.from(target)]];
  for (let pair = waiting.pop(); pair !== undefined; pair = waiting.pop()) {
    const [from, to] = pair;
    for (const entry of readdirSync(from, { withFileTypes: true, encoding: 'buffer' }) as Dirent<Buffer>[]) {
      entries += 1;
      if (entries % ENTRIES_A_TURN === 0) await nextTurn();
      const here = Buffer.concat([from, SEPARATOR, entry.name]);
      const there = Buffer.concat([to, SEPARATOR, entry.name]);
      if (entry.isDirectory()) {
        mkdirSync(there, { mode: 0o700 });
        waiting.push([here, there]);
      } else if (entry.isFile()) {
        const { size, mode } = lstatSync(here);
        if (size <= SMALL_FILE_BYTES) copyFileSync(here, there, constants.COPYFILE_FICLONE);
        else await copyFile(here, there, constants.COPYFILE_FICLONE);
        own(there, (mode & 0o777) | 0o600);
      }
    }
    // Last: a folder's owner may not let us write into it everywhere.
    own(to, 0o700);
  }
}

/** Makes every entry of a tree that this process wrote readable for a group, and changeable for nobody but us. */
export function shareWithGroup(path: string, gid: number): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const child = `${path}/${entry.name}`;
    if (entry.isDirectory()) {
      shareWithGroup(child, gid);
    } else {
      chownSync(child, 0, gid);
      chmodSync(child, 0o640);
    }
  }
  chownSync(path, 0, gid);
  chmodSync(path, 0o750);
}
