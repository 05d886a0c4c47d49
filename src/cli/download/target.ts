import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { errnoOf, InvalidInputError } from '../../api/errors.ts';
import { runLayout } from '../../api/run-layout.ts';
import { runRecordSchema } from '../../api/run.ts';
import { bytePath, toBytes, type BytePath } from '../../artifacts/byte-path.ts';
import { readJsonRecord, writeJsonDurably } from '../../files/durable.ts';

/** Folder inside of the target for files on their way and for whose run it is. */
export const DOWNLOAD_FOLDER = '.clawbench-download';

const markerSchema = z.object({ uid: z.string(), run: z.string(), namespace: z.string() });
export type DownloadedRun = z.infer<typeof markerSchema>;

/** Where a run is downloaded to. */
export interface DownloadTarget {
  readonly root: string;
  /** Files that are not whole yet. */
  readonly parts: string;
  /** Removes what only an unfinished download needs. */
  readonly finish: () => Promise<void>;
}

/**
 * Makes or opens the folder of a download. A folder is taken when it is empty, or holds an earlier download of the
 * same run, whole or not.
 *
 * @throws InvalidInputError when it holds anything else
 */
export async function openTarget(root: string, run: DownloadedRun): Promise<DownloadTarget> {
  const folder = join(root, DOWNLOAD_FOLDER);
  const marker = join(folder, 'run.json');
  const parts = join(folder, 'parts');
  const entries = await entriesOf(root);
  if (entries.length > 0) {
    const earlier = await readJsonRecord(markerSchema, marker);
    const uid = earlier?.uid ?? (await readJsonRecord(runRecordSchema, runLayout(root).runJson))?.uid;
    if (uid !== run.uid) {
      throw new InvalidInputError({
        file: root,
        message:
          uid === undefined
            ? 'is not empty, and does not hold this run'
            : `holds another run (UID ${uid}, not ${run.uid})`,
        remedy: 'Give a folder that does not exist yet.',
      });
    }
  }
  // The files are an agent's: they are for the eyes of who fetched them.
  await mkdir(parts, { recursive: true, mode: 0o700 });
  await writeJsonDurably(marker, run);
  return { root, parts, finish: () => rm(folder, { recursive: true, force: true }) };
}

async function entriesOf(root: string): Promise<string[]> {
  try {
    return await readdir(root);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    if (errnoOf(error) !== 'ENOTDIR') throw error;
    throw new InvalidInputError({ file: root, message: 'is a file', remedy: 'Give a folder.' });
  }
}

/** Path on this machine of a byte path below a folder. */
export function localPath(root: string, path: BytePath): Buffer {
  return toBytes(`${bytePath(join(root, '/'))}${path}`);
}
