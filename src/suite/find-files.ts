import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { InvalidInputError } from '../api/errors.ts';

const MAXIMUM_FILES = 20_000;
const MAXIMUM_DEPTH = 16;

/**
 * YAML files below a folder, relative to it with forward slashes, sorted by path. Names beginning with a dot are
 * left out; links are listed as files only, never walked, so a suite cannot send the reader round in circles.
 */
export async function findYamlFiles(folder: string): Promise<string[]> {
  const found: string[] = [];
  const walk = async (relative: string, depth: number): Promise<void> => {
    const entries = await readdir(join(folder, relative), { withFileTypes: true });
    for (const entry of entries) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const path = relative === '' ? entry.name : `${relative}/${entry.name}`;
      if (entry.isDirectory()) {
        if (depth < MAXIMUM_DEPTH) await walk(path, depth + 1);
      } else if (/\.ya?ml$/.test(entry.name)) {
        found.push(path);
        if (found.length > MAXIMUM_FILES) {
          throw new InvalidInputError({
            file: folder,
            message: `holds more than ${MAXIMUM_FILES} YAML files`,
            remedy: 'Give the folder of the suite alone.',
          });
        }
      }
    }
  };
  await walk('', 0);
  return found.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}
