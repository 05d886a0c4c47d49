import { lstat } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { errnoOf } from '../api/errors.ts';

/** Outcome of looking a path up inside a suite. */
export type Found =
  | { readonly kind: 'file' | 'folder'; readonly path: string }
  | { readonly kind: 'wrong'; readonly message: string; readonly remedy: string };

/**
 * Looks a path up the way the public suites mean it: first beside the scenario's file, then from the suite's
 * root. Whatever leaves the root is refused, be it by `..`, by an absolute path or by a link on the way: a suite
 * from elsewhere must not be able to publish this machine's files.
 *
 * @param root absolute path of the suite, without links
 * @param bases folders to look from, relative to `root`, in order of preference
 */
export async function lookUp(root: string, bases: readonly string[], written: string): Promise<Found> {
  if (written.includes('\0')) return wrong('has a NUL character in it', 'Remove it.');
  if (isAbsolute(written) || /^[A-Za-z]:[\\/]/.test(written)) {
    return wrong(`"${written}" is an absolute path`, 'Write it relative to the scenario file or the suite.');
  }
  let outside = 0;
  for (const base of bases) {
    const path = resolve(root, base, written);
    if (!isInside(root, path)) {
      outside += 1;
      continue;
    }
    const found = await probe(root, path);
    if (found !== undefined) return found;
  }
  return outside === bases.length
    ? wrong(`"${written}" leads out of the suite`, 'Move the file into the suite.')
    : wrong(
        `"${written}" does not exist`,
        'Add it, or correct the path (relative to the scenario file or the suite).',
      );
}

/** True for `root` itself and everything below it. */
export function isInside(root: string, path: string): boolean {
  const inside = relative(root, path);
  return inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
}

/** Looks at every step of the way, so that no link is followed; undefined when there is nothing. */
async function probe(root: string, path: string): Promise<Found | undefined> {
  const steps = relative(root, path).split(sep);
  let current = root;
  let kind: 'file' | 'folder' = 'folder';
  for (const step of steps) {
    if (step === '') continue;
    current = join(current, step);
    let stat;
    try {
      stat = await lstat(current);
    } catch (error) {
      const code = errnoOf(error);
      if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG') return undefined;
      throw error;
    }
    if (stat.isSymbolicLink()) {
      return wrong(`${relative(root, current)} is a link`, 'Replace the link by what it points to.');
    }
    if (!stat.isFile() && !stat.isDirectory()) {
      return wrong(`${relative(root, current)} is neither a file nor a folder`, 'Remove it.');
    }
    kind = stat.isFile() ? 'file' : 'folder';
  }
  return { kind, path };
}

function wrong(message: string, remedy: string): Found {
  return { kind: 'wrong', message, remedy };
}

/**
 * A destination inside the agent's workspace, normalised.
 *
 * @returns undefined when it leaves the workspace or is no name at all
 */
export function workspacePath(written: string): string | undefined {
  if (written.includes('\0') || isAbsolute(written)) return undefined;
  const parts: string[] = [];
  for (const part of written.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') return undefined;
    parts.push(part);
  }
  return parts.length === 0 ? undefined : parts.join('/');
}
