import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
} from 'node:fs';
import type { Stats } from 'node:fs';
import { errnoOf } from '../api/errors.ts';
import { compareBytePaths, toBytes } from './byte-path.ts';
import type { BytePath } from './byte-path.ts';

/** O_PATH of Linux, which Node.js does not name: a handle on the entry itself, without any permission on it. */
const O_PATH = 0o10000000;

/** Linux shows open handles as folders, which makes `<handle>/<name>` a path that nobody can redirect. */
const HANDLES_ARE_PATHS = existsSync('/proc/self/fd');

/**
 * A folder held by an open handle. Entries are named relative to the handle, never by a path through folders
 * that the agent owned: a folder replaced by a link, before or during the work, is refused and not followed.
 * This is openat(2) with O_NOFOLLOW for every component, by way of /proc/self/fd. Where the system has no
 * /proc (macOS), paths are used, and the handles still refuse a link in the last component.
 *
 * Whoever opens a folder closes it (`using`).
 */
export class FolderHandle implements Disposable {
  readonly #fd: number;
  readonly #base: Buffer;

  private constructor(fd: number, path: Buffer) {
    this.#fd = fd;
    this.#base = HANDLES_ARE_PATHS ? Buffer.from(`/proc/self/fd/${fd}`) : path;
  }

  /**
   * @param path a folder whose parents are ours
   * @throws the system's error: ENOENT, ENOTDIR (a file or a link), EACCES
   */
  static open(path: string | Buffer): FolderHandle {
    const bytes = Buffer.from(path);
    return new FolderHandle(openFolder(bytes), bytes);
  }

  /** Opens a folder below this one, component by component; '' opens this one anew. */
  descend(path: BytePath): FolderHandle {
    let here = new FolderHandle(openFolder(this.#base, true), this.#base);
    for (const name of path === '' ? [] : path.split('/')) {
      try {
        const child = here.pathOf(name);
        const next = new FolderHandle(openFolder(child), child);
        here.close();
        here = next;
      } catch (error) {
        here.close();
        throw error;
      }
    }
    return here;
  }

  /** A path to hand to a system call at once; it names the entry only while this handle is open. */
  pathOf(name: BytePath): Buffer {
    return Buffer.concat([this.#base, Buffer.from('/'), toBytes(name)]);
  }

  /** Facts of the folder itself. */
  stat(): Stats {
    return fstatSync(this.#fd);
  }

  /** Facts of an entry; a link is not followed. */
  lstat(name: BytePath): Stats {
    return lstatSync(this.pathOf(name));
  }

  /** Names of all entries in byte order, without `.` and `..`. */
  names(): BytePath[] {
    return readdirSync(this.#base, { encoding: 'buffer' })
      .map((name) => name.toString('latin1'))
      .sort(compareBytePaths);
  }

  /**
   * Opens a regular file for reading and returns its descriptor, which the caller closes. Never waits (a FIFO
   * would block for ever without O_NONBLOCK) and never follows a link; a file that its owner, us, may not read
   * is given the permission first. The caller must still look with fstat at what was opened.
   */
  openFile(name: BytePath): number {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
    return openOrPermit(this.pathOf(name), flags, 0o400);
  }

  close(): void {
    closeSync(this.#fd);
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

function openFolder(path: Buffer, follow = false): number {
  const noFollow = follow ? 0 : constants.O_NOFOLLOW;
  return openOrPermit(path, constants.O_RDONLY | constants.O_DIRECTORY | noFollow, 0o700);
}

/**
 * Opens an entry; on EACCES of an entry that we own, adds `permission` to its mode and tries again. Agents take
 * permissions from their own files and folders (chmod 000); the harness has the agent's uid in a pod, so it may
 * give them back.
 */
function openOrPermit(path: Buffer, flags: number, permission: number): number {
  let fd: number;
  try {
    fd = openSync(path, flags);
  } catch (error) {
    if (errnoOf(error) !== 'EACCES' || !permit(path, permission)) throw error;
    return openSync(path, flags);
  }
  // Opening a folder needs r, finding its entries x; the owner gets both.
  if (permission === 0o700 && process.geteuid?.() !== 0) {
    const mode = fstatSync(fd).mode;
    if ((mode & 0o700) !== 0o700) permit(path, permission);
  }
  return fd;
}

function permit(path: Buffer, permission: number): boolean {
  if (!HANDLES_ARE_PATHS) return false;
  let fd: number;
  try {
    fd = openSync(path, O_PATH | constants.O_NOFOLLOW);
  } catch {
    return false;
  }
  try {
    const { mode, uid } = fstatSync(fd);
    if (uid !== process.geteuid?.() || (mode & constants.S_IFMT) === constants.S_IFLNK) return false;
    chmodSync(`/proc/self/fd/${fd}`, (mode & 0o7777) | permission);
    return true;
  } catch {
    return false;
  } finally {
    closeSync(fd);
  }
}
