import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidInputError } from '../api/errors.ts';
import type { BenchmarkRunSpec } from '../api/benchmark-run.ts';
import { builtinSuiteRoot, loadSuite } from '../suite/load.ts';
import type { LoadedSuite } from '../suite/loaded-suite.ts';
import { unpackArchive } from './prepare/unpack-archive.ts';

/** Where a container finds a suite. */
export interface SuiteSource {
  /** Folder or archive; null is the built-in suite of this image. */
  readonly suitePath: string | null;
  readonly archive: boolean;
}

/**
 * Loads a suite from where the controller mounted it. Archives are unpacked into the container's temporary folder,
 * which goes with the container.
 *
 * @throws InvalidInputError with everything that is wrong
 */
export async function loadMountedSuite(
  { suitePath, archive }: SuiteSource,
  format: BenchmarkRunSpec['suite']['format'],
): Promise<LoadedSuite> {
  if (suitePath === null) return await loadSuite(builtinSuiteRoot(), format);
  if (!archive) return await loadSuite(suitePath, format);
  const folder = await mkdtemp(join(tmpdir(), 'clawbench-suite-'));
  try {
    return await loadSuite(await unpackArchive(suitePath, folder), format);
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    const [first, ...rest] = error.problems.map((problem) => ({
      ...problem,
      // The user knows the archive, not where it was unpacked.
      ...(problem.file?.startsWith(folder) === true ? { file: suitePath } : {}),
    }));
    throw first === undefined ? error : new InvalidInputError([first, ...rest]);
  }
}
