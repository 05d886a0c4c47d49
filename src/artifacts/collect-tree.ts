import { mkdirSync } from 'node:fs';
import { errnoOf } from '../api/errors.ts';
import type { ManifestEntry, Omission } from '../api/manifest.ts';
import { treeDigest } from '../files/digest.ts';
import type { Baseline } from './baseline.ts';
import { bytePath, joinBytePath, parentOf, recordPath, toBytes } from './byte-path.ts';
import type { BytePath } from './byte-path.ts';
import { copyBuffer, copyFile, isNameRefused, writing } from './copy-file.ts';
import { FolderHandle } from './folder-handle.ts';
import { DEFAULT_COLLECTION_LIMITS } from './limits.ts';
import type { CollectionLimits } from './limits.ts';
import { summariseOmissions } from './omissions.ts';
import { planCollection } from './plan.ts';
import { scanTree } from './scan.ts';
import type { LeftOut, ScannedEntry } from './scan.ts';
import { TimeSlices } from './time-slices.ts';

export interface CollectTreeOptions {
  /** Folder that an agent wrote to. Its parents are ours; itself and everything in it is not trusted. */
  readonly source: string;
  /** Folder to copy to, which is made; null reads and hashes only. */
  readonly target: string | null;
  readonly limits?: Partial<CollectionLimits>;
  /** What lay in the source before the agent started. */
  readonly baseline?: Baseline;
  /** uid of the agent, for the rule on hard links; the owner of the source when it is not given. */
  readonly agentUid?: number;
  /** Ends the collection where it is: status `cut_short`. */
  readonly signal?: AbortSignal;
  /** Prefix of the recorded paths, e.g. `workspace`. */
  readonly recordedAs?: string;
}

/** What was taken. Paths are as in manifest.json, in byte order. */
export interface CollectedTree {
  /**
   * `source_missing`: there is no folder at the source any more (deleted, or replaced by a file or a link).
   * `cut_short`: the signal came first; what was copied until then is listed, and nothing may be graded on it.
   */
  readonly status: 'complete' | 'source_missing' | 'cut_short';
  readonly files: readonly ManifestEntry[];
  readonly omitted: readonly Omission[];
  /** Files of the scenario that are gone. */
  readonly deleted: readonly string[];
  readonly totalBytes: number;
  /** treeDigest of the files, with paths relative to the source. */
  readonly digest: string;
}

/** A collected file with its exact path, relative to the source. */
interface TakenFile {
  readonly entry: ScannedEntry;
  readonly sha256: string;
}

/**
 * Copies a folder that an agent wrote to, without trusting it: no link is followed, nothing but regular files
 * is opened, everything is bounded, and each thing left out is recorded with its reason. Identical folders give
 * identical results. To be called when every process of the agent is dead; it stays safe when one is not, but
 * then files that change are left out.
 *
 * Files that the owner may not read are given that permission where the harness is the owner; the recorded mode
 * is the agent's.
 *
 * @throws InfrastructureError `DiskFull` or `ArtifactWriteFailed`: the target cannot be written
 */
export async function collectTree(options: CollectTreeOptions): Promise<CollectedTree> {
  const limits = { ...DEFAULT_COLLECTION_LIMITS, ...options.limits };
  const slices = new TimeSlices(options.signal);
  const expected = options.baseline?.paths ?? new Set<BytePath>();
  const target = options.target === null ? null : bytePath(options.target);
  if (target !== null) makeFolder(target, true);

  const root = openSource(options.source);
  if (root === null) return record(options, limits, 'source_missing', [], [], new Set());
  using source = root;

  const owner = options.agentUid ?? source.stat().uid;
  const scan = await scanTree(source, limits, expected, owner, slices);
  const plan = planCollection(scan.entries, limits, expected);
  const refused = target === null ? [] : await makeFolders(target, plan.folders, slices);
  const copied = await copyFiles(source, plan.files.filter(outside(refused)), target, slices);
  const present = new Set([...scan.entries, ...scan.leftOut].map((entry) => entry.path));
  const status = scan.cutShort || copied.cutShort ? 'cut_short' : 'complete';
  const leftOut = [...scan.leftOut, ...plan.leftOut, ...refused, ...copied.leftOut];
  return record(options, limits, status, copied.taken, leftOut, present);
}

function openSource(path: string): FolderHandle | null {
  try {
    return FolderHandle.open(path);
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return null;
    throw error;
  }
}

function makeFolder(path: BytePath, recursive: boolean): void {
  const bytes = toBytes(path);
  writing(bytes, () => mkdirSync(bytes, { recursive }));
}

/** Makes the folders of a plan, in its order. @returns those whose names the target's disk does not take */
async function makeFolders(
  target: BytePath,
  folders: readonly ScannedEntry[],
  slices: TimeSlices,
): Promise<LeftOut[]> {
  const refused: LeftOut[] = [];
  for (const folder of folders) {
    if (!outside(refused)(folder)) continue;
    try {
      makeFolder(`${target}/${folder.path}`, false);
    } catch (error) {
      if (!isNameRefused(error)) throw error;
      refused.push({ path: folder.path, reason: 'name_too_long', bytes: null, count: 1 });
    }
    await slices.breathe();
  }
  return refused;
}

/** Whether an entry lies in none of these folders. */
const outside =
  (folders: readonly LeftOut[]) =>
  ({ path }: ScannedEntry): boolean =>
    !folders.some((folder) => path.startsWith(`${folder.path}/`));

async function copyFiles(
  source: FolderHandle,
  files: readonly ScannedEntry[],
  target: BytePath | null,
  slices: TimeSlices,
): Promise<{ taken: TakenFile[]; leftOut: LeftOut[]; cutShort: boolean }> {
  const taken: TakenFile[] = [];
  const leftOut: LeftOut[] = [];
  const buffer = copyBuffer();
  let open: { path: BytePath; handle: FolderHandle | null } | undefined;
  try {
    for (const entry of files) {
      await slices.breathe();
      if (slices.isStopped()) return { taken, leftOut, cutShort: true };
      const folder = parentOf(entry.path);
      if (open?.path !== folder) {
        open?.handle?.close();
        open = { path: folder, handle: descendOrNull(source, folder) };
      }
      const name = folder === '' ? entry.path : entry.path.slice(folder.length + 1);
      const result =
        open.handle === null
          ? ({ omitted: 'changed_while_reading' } as const)
          : await copyFile(
              open.handle,
              name,
              entry,
              target === null ? null : toBytes(joinBytePath(target, entry.path)),
              buffer,
              slices,
            );
      if (result === 'cut_short') return { taken, leftOut, cutShort: true };
      if ('sha256' in result) taken.push({ entry, sha256: result.sha256 });
      else leftOut.push({ path: entry.path, reason: result.omitted, bytes: entry.bytes, count: 1 });
    }
    return { taken, leftOut, cutShort: false };
  } finally {
    open?.handle?.close();
  }
}

/** A folder that was there when it was scanned and cannot be opened now was changed. */
function descendOrNull(source: FolderHandle, folder: BytePath): FolderHandle | null {
  try {
    return source.descend(folder);
  } catch {
    return null;
  }
}

function record(
  options: CollectTreeOptions,
  limits: CollectionLimits,
  status: CollectedTree['status'],
  taken: readonly TakenFile[],
  leftOut: readonly LeftOut[],
  present: ReadonlySet<BytePath>,
): CollectedTree {
  const prefix = options.recordedAs ?? '';
  const files = taken.map(({ entry, sha256 }) => ({
    ...recordPath(entry.path, prefix),
    bytes: entry.bytes,
    mode: entry.mode,
    sha256,
    origin: options.baseline?.originOf(entry.path, sha256) ?? ('agent' as const),
  }));
  return {
    status,
    files,
    omitted: summariseOmissions(leftOut, limits.omissionLines, prefix),
    // A collection that did not see everything cannot say what is gone.
    deleted:
      status === 'cut_short' || options.baseline === undefined
        ? []
        : goneFrom(options.baseline, present, leftOut).map((path) => recordPath(path, prefix).path),
    totalBytes: taken.reduce((sum, { entry }) => sum + entry.bytes, 0),
    digest: treeDigest(
      taken.map(({ entry, sha256 }) => ({ path: toBytes(entry.path), mode: entry.mode, sha256 })),
    ),
  };
}

/** Files of the scenario that were looked for and not seen; not those in a folder that was left out whole. */
function goneFrom(
  baseline: Baseline,
  present: ReadonlySet<BytePath>,
  leftOut: readonly LeftOut[],
): BytePath[] {
  const unseen = new Set(leftOut.map(({ path }) => path));
  unseen.delete('');
  return baseline.scenarioPaths().filter((path) => {
    for (let above = path; above !== ''; above = parentOf(above)) if (unseen.has(above)) return false;
    return !present.has(path);
  });
}
