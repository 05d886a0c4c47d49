import { parentOf, recordedBytePath } from './byte-path.ts';
import type { BytePath } from './byte-path.ts';
import { collectTree } from './collect-tree.ts';
import type { CollectionLimits } from './limits.ts';

export type BaselineOrigin = 'scenario' | 'scaffold';

interface BaselineFile {
  readonly sha256: string;
  readonly origin: BaselineOrigin;
}

/** A baseline is of our own making, so it is bounded generously: it must not miss a file of a scenario. */
const BASELINE_LIMITS: Partial<CollectionLimits> = {
  files: 200_000,
  totalBytes: 8 * 1024 ** 3,
  fileBytes: 4 * 1024 ** 3,
  depth: 128,
  scanned: 1_000_000,
};

/**
 * What lay in a folder before the agent started. A file that is still the same afterwards is not the agent's
 * work: it is the scenario's, or scaffold that the runtime puts into every workspace and that must neither earn
 * nor cost points.
 */
export class Baseline {
  readonly #files: ReadonlyMap<BytePath, BaselineFile>;
  /** Every file and every folder above one. */
  readonly paths: ReadonlySet<BytePath>;

  constructor(files: ReadonlyMap<BytePath, BaselineFile>) {
    this.#files = files;
    const paths = new Set<BytePath>();
    for (const file of files.keys()) {
      for (let path = file; path !== '' && !paths.has(path); path = parentOf(path)) paths.add(path);
    }
    this.paths = paths;
  }

  get size(): number {
    return this.#files.size;
  }

  /** Origin of a file with this content; null when the baseline has no such file, or another content for it. */
  originOf(path: BytePath, sha256: string): BaselineOrigin | null {
    const file = this.#files.get(path);
    return file?.sha256 === sha256 ? file.origin : null;
  }

  scenarioPaths(): BytePath[] {
    return Array.from(this.#files).flatMap(([path, file]) => (file.origin === 'scenario' ? [path] : []));
  }

  /**
   * This baseline and what was added or changed since, as scaffold: for the files of a runtime. Where a runtime
   * writes its scaffold only when it first runs, its adapter knows the digests and gives them here.
   */
  withScaffold(later: Iterable<readonly [BytePath, { readonly sha256: string }]>): Baseline {
    const files = new Map(this.#files);
    for (const [path, { sha256 }] of later) {
      if (files.get(path)?.sha256 !== sha256) files.set(path, { sha256, origin: 'scaffold' });
    }
    return new Baseline(files);
  }

  [Symbol.iterator](): Iterator<[BytePath, BaselineFile]> {
    return this.#files.entries();
  }
}

/**
 * Reads what lies in a folder before the agent starts: call it when the scenario's files are staged and its
 * setup script has run. For the scaffold of a runtime take a second one after the runtime was prepared and
 * combine them: `first.withScaffold(second)`.
 */
export async function takeBaseline(folder: string, origin: BaselineOrigin = 'scenario'): Promise<Baseline> {
  const tree = await collectTree({ source: folder, target: null, limits: BASELINE_LIMITS });
  return new Baseline(
    new Map(tree.files.map((file) => [recordedBytePath(file), { sha256: file.sha256, origin }])),
  );
}
