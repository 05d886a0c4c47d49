import { createHash } from 'node:crypto';
import { closeSync, readSync } from 'node:fs';
import { InvalidInputError } from '../api/errors.ts';
import { manifestSchema } from '../api/manifest.ts';
import type { Manifest, ManifestEntry } from '../api/manifest.ts';
import { attemptLayout } from '../api/run-layout.ts';
import { canonicalJson, sha256 } from '../files/digest.ts';
import { readJsonRecord, writeJsonDurably } from '../files/durable.ts';
import { bytePath, compareBytePaths, joinBytePath, recordPath, recordedBytePath } from './byte-path.ts';
import type { BytePath } from './byte-path.ts';
import type { CollectedTree } from './collect-tree.ts';
import { FolderHandle } from './folder-handle.ts';
import { TimeSlices } from './time-slices.ts';

/** Trees that were collected into the attempt directory, by the folder's name there. */
export interface CollectedTrees {
  readonly workspace: CollectedTree;
  /** Further folders, e.g. `result` or `native`. */
  readonly others?: readonly CollectedTree[];
}

/** Written after the manifest, or the manifest itself: they cannot stand in it. */
const OUTSIDE_MANIFEST = ['manifest.json', 'result.json'];

/**
 * Writes manifest.json: the SHA-256 of every file of an attempt directory but manifest.json and result.json.
 * Collected files are taken over as `collectTree` read them (their `recordedAs` must be the folder's name);
 * what else lies there is the harness's own and is read now. To be called once everything else is written.
 *
 * @returns the manifest and its digest, which result.json records
 * @throws InfrastructureError `DiskFull`
 */
export async function writeManifest(
  attemptDir: string,
  trees: CollectedTrees,
): Promise<{ manifest: Manifest; digest: string }> {
  const all = [trees.workspace, ...(trees.others ?? [])];
  const collected = all.flatMap((tree) => tree.files);
  const known = new Set(collected.map(recordedBytePath));
  const own: ManifestEntry[] = [];
  await walkAttempt(attemptDir, (path, hashed) => {
    if (known.has(path)) return;
    const { bytes, mode, sha256 } = hashed();
    own.push({ ...recordPath(path), bytes, mode, sha256, origin: 'harness' });
  });
  const files = [...collected, ...own].sort((a, b) =>
    compareBytePaths(recordedBytePath(a), recordedBytePath(b)),
  );
  const manifest: Manifest = {
    schema_version: 1,
    files,
    omitted: all.flatMap((tree) => tree.omitted),
    totalBytes: files.reduce((sum, file) => sum + file.bytes, 0),
    workspaceDigest: trees.workspace.digest,
    deleted: all.flatMap((tree) => tree.deleted),
  };
  await writeJsonDurably(attemptLayout(attemptDir).manifestJson, manifest);
  return { manifest, digest: manifestDigest(manifest) };
}

/** Digest of a manifest, independent of the layout of its JSON text. */
export function manifestDigest(manifest: Manifest): string {
  return sha256(canonicalJson(manifest));
}

/**
 * @returns the manifest, or undefined when the attempt directory has none
 * @throws InvalidInputError when it is not a manifest
 */
export async function readManifest(attemptDir: string): Promise<Manifest | undefined> {
  return readJsonRecord(manifestSchema, attemptLayout(attemptDir).manifestJson);
}

/** A difference between an attempt directory and its manifest. */
export interface ManifestProblem {
  readonly kind: 'no_manifest' | 'invalid_manifest' | 'digest' | 'missing' | 'added' | 'changed';
  /** Relative to the attempt directory. */
  readonly path: string;
  readonly message: string;
}

/**
 * Compares an attempt directory with its manifest, reading every file.
 *
 * @param expectedDigest manifestDigest as result.json or the run recorded it; null checks the files alone
 * @returns every difference; empty when the directory is what the harness wrote
 */
export async function verifyManifest(
  attemptDir: string,
  expectedDigest: string | null = null,
): Promise<readonly ManifestProblem[]> {
  let manifest: Manifest | undefined;
  try {
    manifest = await readManifest(attemptDir);
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return [{ kind: 'invalid_manifest', path: 'manifest.json', message: error.message }];
  }
  if (manifest === undefined) {
    return [{ kind: 'no_manifest', path: 'manifest.json', message: 'there is no manifest.json' }];
  }
  const problems: ManifestProblem[] = [];
  if (expectedDigest !== null && manifestDigest(manifest) !== expectedDigest) {
    problems.push({
      kind: 'digest',
      path: 'manifest.json',
      message: 'manifest.json is not the one that was recorded for this attempt',
    });
  }
  const expected = new Map(manifest.files.map((file) => [recordedBytePath(file), file]));
  await walkAttempt(attemptDir, (path, hashed) => {
    const shown = recordPath(path).path;
    const file = expected.get(path);
    expected.delete(path);
    if (file === undefined) {
      problems.push({ kind: 'added', path: shown, message: `${shown} is not in the manifest` });
    } else if (hashed().sha256 !== file.sha256) {
      problems.push({ kind: 'changed', path: shown, message: `${shown} has other contents than recorded` });
    }
  });
  for (const { path } of expected.values()) {
    problems.push({ kind: 'missing', path, message: `${path} is recorded but not there` });
  }
  return problems;
}

interface HashedFile {
  readonly bytes: number;
  readonly mode: number;
  readonly sha256: string;
}

/**
 * Calls back for each entry of an attempt directory that is not a folder, in byte order. A link or special file
 * has no place there: reading one gives a digest that no file has, so that verification names it.
 */
async function walkAttempt(
  attemptDir: string,
  visit: (path: BytePath, hashed: () => HashedFile) => void,
): Promise<void> {
  using root = FolderHandle.open(Buffer.from(bytePath(attemptDir), 'latin1'));
  const slices = new TimeSlices();
  const buffer = Buffer.allocUnsafe(1024 * 1024);
  const pending: BytePath[] = [''];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    using handle = root.descend(folder);
    const folders: BytePath[] = [];
    for (const name of handle.names()) {
      await slices.breathe();
      const path = joinBytePath(folder, name);
      if (OUTSIDE_MANIFEST.includes(path) || isTemporary(path)) continue;
      const stats = handle.lstat(name);
      if (stats.isDirectory()) folders.push(path);
      else visit(path, () => (stats.isFile() ? hashFile(handle, name, buffer) : NOT_A_FILE));
    }
    pending.push(...folders.reverse());
  }
}

const NOT_A_FILE: HashedFile = { bytes: 0, mode: 0, sha256: 'not a regular file' };

/** A name that `writeFileDurably` gives to a file on its way into the attempt directory itself. */
function isTemporary(path: BytePath): boolean {
  return /^\.(manifest|result)\.json\.\d+-\d+\.tmp$/.test(path);
}

function hashFile(folder: FolderHandle, name: string, buffer: Buffer): HashedFile {
  const fd = folder.openFile(name);
  try {
    const hash = createHash('sha256');
    let bytes = 0;
    for (let length = readSync(fd, buffer); length > 0; length = readSync(fd, buffer)) {
      hash.update(buffer.subarray(0, length));
      bytes += length;
    }
    return { bytes, mode: folder.lstat(name).mode & 0o7777, sha256: hash.digest('hex') };
  } finally {
    closeSync(fd);
  }
}
