import { lstat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { lookUp } from './boundary.ts';
import { digestOf, readTree, under, type SuiteFile, type SuiteTree, type TreeProblem } from './tree.ts';

/** Folders that checkers lie in, in the order they are looked for. */
export const CHECKER_FOLDERS = ['custom_checks', 'checkers'] as const;

/**
 * What a Python checker may import or read of its suite: checkers of the public suite find `datasets/` from
 * their own path and import `harness.*` and from `frameworks/`.
 */
const PYTHON_BUNDLE = [
  'custom_checks',
  'checkers',
  'harness',
  'frameworks',
  'datasets',
  'fixtures',
  'mock_tools',
  'config',
] as const;

export interface ResolvedChecker {
  readonly language: 'typescript' | 'python';
  /** Path inside the bundle, which is the path inside the suite. */
  readonly entry: string;
}

/** Everything a checker may need, at the same relative places as in the suite. */
export interface CheckerBundle {
  readonly digest: string;
  readonly tree: SuiteTree;
}

/** Finds a checker that a scenario names. */
export async function findChecker(
  root: string,
  written: string,
): Promise<ResolvedChecker | { readonly message: string; readonly remedy: string }> {
  const language = written.endsWith('.py') ? 'python' : /\.m?ts$/.test(written) ? 'typescript' : undefined;
  if (language === undefined) {
    return {
      message: `"${written}" is neither a .py nor a .ts file`,
      remedy: 'Name a checker in Python or TypeScript.',
    };
  }
  const present: string[] = [];
  for (const folder of CHECKER_FOLDERS) if (await isFolder(join(root, folder))) present.push(folder);
  if (present.length === 0) {
    return {
      message: `the suite has no folder ${CHECKER_FOLDERS.join('/ or ')}/ for checkers`,
      remedy: 'Give --suite the folder that holds it beside scenarios/.',
    };
  }
  const found = await lookUp(root, present, written);
  if (found.kind === 'wrong') return found;
  if (found.kind === 'folder')
    return { message: `"${written}" is a folder`, remedy: 'Name the checker itself.' };
  const entry = relative(root, found.path);
  if (!present.some((folder) => entry.startsWith(`${folder}/`))) {
    return {
      message: `"${written}" lies outside of ${present.join('/ and ')}/`,
      remedy: 'Move the checker there.',
    };
  }
  return { language, entry };
}

/** Reads the bundle of all checkers of one language: one bundle serves every scenario of a suite. */
export async function readCheckerBundle(
  root: string,
  language: ResolvedChecker['language'],
): Promise<CheckerBundle & { readonly problems: readonly TreeProblem[] }> {
  const folders = language === 'python' ? PYTHON_BUNDLE : CHECKER_FOLDERS;
  const files: SuiteFile[] = [];
  const empty: string[] = [];
  const problems: TreeProblem[] = [];
  for (const folder of folders) {
    if (!(await isFolder(join(root, folder)))) continue;
    const tree = await readTree(join(root, folder), (name) => isNoPartOfBundle(name, language));
    files.push(...under(folder, tree.files));
    empty.push(folder, ...tree.folders.map((path) => `${folder}/${path}`));
    problems.push(...tree.problems.map((problem) => ({ ...problem, path: `${folder}/${problem.path}` })));
  }
  return { digest: digestOf(files), tree: { files, folders: empty }, problems };
}

const LEFT_OUT: ReadonlySet<string> = new Set([
  '__pycache__',
  '.git',
  '.pytest_cache',
  '.mypy_cache',
  '.ruff_cache',
  '.venv',
  'node_modules',
  '.DS_Store',
]);

/** Caches differ between machines; Python beside TypeScript checkers is never theirs. */
function isNoPartOfBundle(name: string, language: ResolvedChecker['language']): boolean {
  return LEFT_OUT.has(name) || name.endsWith('.pyc') || (language === 'typescript' && name.endsWith('.py'));
}

async function isFolder(path: string): Promise<boolean> {
  const stat = await lstat(path).catch(() => undefined);
  return stat?.isDirectory() === true;
}
