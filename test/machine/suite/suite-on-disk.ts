import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach } from 'vitest';
import { InvalidInputError, type InputProblem } from '../../../src/api/errors.ts';

const made: string[] = [];

/** Removes the folders that a test made, after each test of the file that calls this. */
export function cleanUp(): void {
  afterEach(async () => {
    for (const folder of made.splice(0)) await rm(folder, { recursive: true, force: true });
  });
}

/** A folder with these files in it. */
export async function folderWith(files: Readonly<Record<string, string | Uint8Array>> = {}): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'clawbench-suite-'));
  made.push(root);
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  return root;
}

/** Text of a good scenario file with more lines at its end. */
export function scenario(id: string, ...more: string[]): string {
  return [
    `id: ${id}`,
    'dimension: planning',
    'benchmark_group: intelligence',
    'execution_mode: live',
    'prompt: Write out.txt.',
    ...more,
    '',
  ].join('\n');
}

export const CHECKS = 'checks: [{id: done, type: file_exists, path: out.txt}]';

/** The problems that an action is refused for. */
export async function problemsOf(action: () => Promise<unknown>): Promise<readonly InputProblem[]> {
  try {
    await action();
  } catch (error) {
    if (error instanceof InvalidInputError) return error.problems;
    throw error;
  }
  throw new Error('nothing was refused');
}
