import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { treeDigest } from '../files/digest.ts';

/** A file of a suite as it will be frozen: where its bytes are, and what they hash to. */
export interface SuiteFile {
  /** Relative to the folder it belongs to, with forward slashes. */
  readonly path: string;
  /** Absolute path on this machine, or the bytes themselves. */
  readonly from: string | Uint8Array;
  readonly executable: boolean;
  readonly bytes: number;
  readonly sha256: string;
}

/** Files and folders of a tree, sorted by path; folders matter only where they are empty. */
export interface SuiteTree {
  readonly files: readonly SuiteFile[];
  readonly folders: readonly string[];
}

/** Something that cannot be part of a frozen suite. */
export interface TreeProblem {
  readonly path: string;
  readonly message: string;
  readonly remedy: string;
}

const MAXIMUM_FILES = 50_000;
const MAXIMUM_DEPTH = 64;

/**
 * Lists and hashes a folder. Links, devices, FIFOs and sockets are problems, as are names that are not UTF-8: a
 * frozen suite is plain files that mean the same on every machine.
 *
 * @param leaveOut names of files and folders that are not looked at
 */
export async function readTree(
  folder: string,
  leaveOut: (name: string, path: string) => boolean = () => false,
): Promise<SuiteTree & { readonly problems: readonly TreeProblem[] }> {
  const files: SuiteFile[] = [];
  const folders: string[] = [];
  const problems: TreeProblem[] = [];
  const walk = async (relative: string, depth: number): Promise<void> => {
    const entries = await readdir(join(folder, relative), { withFileTypes: true, encoding: 'buffer' });
    for (const entry of entries) {
      const name = entry.name.toString('utf8');
      const path = relative === '' ? name : `${relative}/${name}`;
      if (!Buffer.from(name, 'utf8').equals(entry.name)) {
        problems.push({ path, message: 'has a name that is not UTF-8', remedy: 'Rename it.' });
      } else if (leaveOut(name, path)) {
        continue;
      } else if (entry.isDirectory()) {
        if (depth >= MAXIMUM_DEPTH) {
          problems.push({
            path,
            message: `lies deeper than ${MAXIMUM_DEPTH} folders`,
            remedy: 'Flatten it.',
          });
          continue;
        }
        folders.push(path);
        await walk(path, depth + 1);
      } else if (entry.isFile()) {
        if (files.length < MAXIMUM_FILES) files.push(await readSuiteFile(join(folder, path), path));
        else if (files.length === MAXIMUM_FILES && problems.length === 0) {
          problems.push({
            path: '.',
            message: `holds more than ${MAXIMUM_FILES} files`,
            remedy: 'Remove some.',
          });
        }
      } else {
        problems.push({
          path,
          message: entry.isSymbolicLink() ? 'is a link' : 'is neither a file nor a folder',
          remedy: entry.isSymbolicLink() ? 'Replace the link by what it points to.' : 'Remove it.',
        });
      }
    }
  };
  await walk('', 0);
  return { files: sorted(files), folders: folders.sort(byCodePoint), problems };
}

/** Hashes one regular file; a link in its place is an error of the system (ELOOP), never followed. */
export async function readSuiteFile(absolute: string, path: string): Promise<SuiteFile> {
  const handle = await open(absolute, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = await handle.stat();
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of handle.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      bytes += chunk.length;
    }
    return {
      path,
      from: absolute,
      executable: (stat.mode & 0o100) !== 0,
      bytes,
      sha256: hash.digest('hex'),
    };
  } finally {
    await handle.close();
  }
}

/** A file whose content the suite's YAML holds itself. */
export function writtenFile(path: string, content: string | Uint8Array): SuiteFile {
  const from = Buffer.from(content);
  return {
    path,
    from,
    executable: false,
    bytes: from.length,
    sha256: createHash('sha256').update(from).digest('hex'),
  };
}

/** Digest of a tree of files (src/files/digest.ts). */
export function digestOf(files: readonly SuiteFile[]): string {
  return treeDigest(
    files.map(({ path, executable, sha256 }) => ({ path, mode: executable ? 0o755 : 0o644, sha256 })),
  );
}

/** The same files under a folder. */
export function under(folder: string, files: readonly SuiteFile[]): SuiteFile[] {
  return files.map((file) => ({ ...file, path: `${folder}/${file.path}` }));
}

export function sorted(files: readonly SuiteFile[]): SuiteFile[] {
  return [...files].sort((a, b) => byCodePoint(a.path, b.path));
}

function byCodePoint(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
