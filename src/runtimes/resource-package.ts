import { readdir, readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { z } from 'zod';
import { errnoOf, InvalidInputError, messageOf, type InputProblem } from '../api/errors.ts';

/** Kinds of resources that a package may bring (runtime specification, manifests). */
export const RESOURCE_TYPES = ['extensions', 'skills', 'prompts', 'themes'] as const;
export type ResourceType = (typeof RESOURCE_TYPES)[number];

export interface ResourceSet {
  /** Whether the manifest lists them, or they were found in the conventional folder. */
  readonly source: 'manifest' | 'convention';
  /** Relative to the package's root, with forward slashes, in byte order, each once. */
  readonly files: readonly string[];
}

export type ResourcePackage = Readonly<Record<ResourceType, ResourceSet>>;

/** What counts in the conventional folders: the kinds of files that a manifest's examples have. */
const CONVENTIONS: Readonly<Record<ResourceType, readonly string[]>> = {
  extensions: ['extensions/*.{ts,mts,js,mjs}', 'extensions/*/index.{ts,mts,js,mjs}'],
  skills: ['skills/*.md', 'skills/*/SKILL.md'],
  prompts: ['prompts/*.md'],
  themes: ['themes/*.json'],
};

const MAXIMUM_FILES = 20_000;
const MAXIMUM_DEPTH = 16;

const entries = z.array(z.string().min(1).max(1024)).max(1000).optional();
const manifestSchema = z.looseObject({
  openclaw: z
    .strictObject({ extensions: entries, skills: entries, prompts: entries, themes: entries })
    .optional(),
});
type Manifest = NonNullable<z.output<typeof manifestSchema>['openclaw']>;

/**
 * Finds the resources of a package: those that `openclaw` in its package.json lists, as file paths or globs
 * relative to the package's root, and for each type that it does not list those in the conventional folder. A
 * type that is listed as empty has none. Links are not followed and count as absent, so that no resource lies
 * outside the root; `node_modules` and names that begin with a dot are left out.
 *
 * @param root the package's folder
 * @throws InvalidInputError with every entry that leaves the root or names no file
 */
export async function discoverResources(root: string): Promise<ResourcePackage> {
  const manifest = await readManifest(join(root, 'package.json'));
  const files = await listFiles(root);
  const { resources, problems } = resolveResources(manifest, files);
  const [first, ...rest] = problems.map((problem) => ({ file: join(root, 'package.json'), ...problem }));
  if (first !== undefined) throw new InvalidInputError([first, ...rest]);
  return resources;
}

/** The pure part of `discoverResources`: which of a package's files its manifest means. */
export function resolveResources(
  manifest: Manifest,
  files: readonly string[],
): { resources: ResourcePackage; problems: readonly InputProblem[] } {
  const problems: InputProblem[] = [];
  const setOf = (type: ResourceType): ResourceSet => {
    const listed = manifest[type];
    if (listed === undefined) {
      return { source: 'convention', files: matching(files, CONVENTIONS[type]) };
    }
    const patterns = listed.flatMap((entry, index) => {
      const checked = checkEntry(entry, files);
      if ('pattern' in checked) return [checked.pattern];
      problems.push({ field: `openclaw.${type}[${index}]`, ...checked });
      return [];
    });
    return { source: 'manifest', files: matching(files, patterns) };
  };
  const resources = {
    extensions: setOf('extensions'),
    skills: setOf('skills'),
    prompts: setOf('prompts'),
    themes: setOf('themes'),
  };
  return { resources, problems };
}

function matching(files: readonly string[], patterns: readonly string[]): readonly string[] {
  return files.filter((file) =>
    patterns.some((pattern) => pattern === file || posix.matchesGlob(file, pattern)),
  );
}

/** An entry as a pattern from the root, or what is wrong with it. A glob may match nothing; a path may not. */
function checkEntry(
  entry: string,
  files: readonly string[],
): { pattern: string } | { message: string; remedy: string } {
  const shown = JSON.stringify(entry);
  if (entry.includes('\0')) return { message: `${shown} has a NUL character in it`, remedy: 'Remove it.' };
  if (entry.startsWith('/') || /^[A-Za-z]:[\\/]/.test(entry)) {
    return { message: `${shown} is an absolute path`, remedy: "Write it relative to the package's root." };
  }
  // Also inside braces, where a pattern could hide it: {..,a}/b
  if (entry.split(/[/\\{},()|]/).includes('..')) {
    return { message: `${shown} leads out of the package`, remedy: 'Move the file into the package.' };
  }
  // Each group of braces multiplies what has to be tried, as does each star.
  if ((entry.match(/\{/g) ?? []).length > 4 || (entry.match(/\*/g) ?? []).length > 16) {
    return { message: `${shown} is too complicated a glob`, remedy: 'Write several entries.' };
  }
  const pattern = posix.normalize(entry);
  if (files.includes(pattern) || /[*?[{]/.test(pattern)) return { pattern };
  const isFolder = files.some((file) => file.startsWith(`${pattern.replace(/\/$/, '')}/`));
  return isFolder
    ? {
        message: `${shown} is a folder`,
        remedy: `Write a glob such as ${JSON.stringify(posix.join(pattern, '*'))}.`,
      }
    : { message: `${shown} names no file of the package`, remedy: 'Add the file, or correct the path.' };
}

async function readManifest(path: string): Promise<Manifest> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    // A folder of resources without a manifest goes by convention alone.
    if (errnoOf(error) === 'ENOENT') return {};
    throw new InvalidInputError({ file: path, message: `cannot be read (${messageOf(error)})` });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InvalidInputError({ file: path, message: `is not JSON (${messageOf(error)})` });
  }
  const parsed = manifestSchema.safeParse(value);
  if (parsed.success) return parsed.data.openclaw ?? {};
  const [first, ...rest] = parsed.error.issues.map((issue): InputProblem => ({
    file: path,
    field: issue.path.map(String).join('.'),
    message: issue.message,
  }));
  throw new InvalidInputError(first === undefined ? { file: path, message: 'is invalid' } : [first, ...rest]);
}

/** Regular files below a folder in byte order, as relative paths with forward slashes. */
async function listFiles(root: string): Promise<readonly string[]> {
  const found: string[] = [];
  const walk = async (relative: string, depth: number): Promise<void> => {
    for (const entry of await readdir(join(root, relative), { withFileTypes: true })) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const path = relative === '' ? entry.name : `${relative}/${entry.name}`;
      if (entry.isDirectory()) {
        if (depth < MAXIMUM_DEPTH) await walk(path, depth + 1);
      } else if (entry.isFile()) {
        found.push(path);
        if (found.length > MAXIMUM_FILES) {
          throw new InvalidInputError({
            file: root,
            message: `holds more than ${MAXIMUM_FILES} files`,
            remedy: 'Give the folder of the package alone.',
          });
        }
      }
    }
  };
  try {
    await walk('', 0);
  } catch (error) {
    const code = errnoOf(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
    throw new InvalidInputError({ file: root, message: 'is not a folder', remedy: 'Check the path.' });
  }
  return found.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}
