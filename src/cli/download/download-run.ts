import type { BytePath } from '../../artifacts/byte-path.ts';
import { linePath, type TreeFile } from '../../pods/reader/protocol.ts';
import { eachBounded } from '../../api/each-bounded.ts';
import { fetchFile, type FetchedFile } from './fetch-file.ts';
import type { ReaderClient } from './reader-client.ts';
import { DOWNLOAD_FOLDER, type DownloadTarget } from './target.ts';
import { verifyAttempts } from './verify-attempts.ts';

/** Answers of the suite: left out unless they are asked for, so that they do not lie about on laptops. */
export const ANSWERS: readonly BytePath[] = ['suite/hidden', 'suite/scripted'];

export interface DownloadOptions {
  readonly reader: ReaderClient;
  readonly target: DownloadTarget;
  /** Also copy the suite's hidden and scripted folders. */
  readonly withAnswers: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: DownloadProgress) => void;
}

export interface DownloadProgress {
  readonly files: number;
  readonly bytes: number;
  readonly totalFiles: number;
  readonly totalBytes: number;
}

export interface DownloadResult {
  readonly files: number;
  readonly bytes: number;
  /** Files that had been there from an earlier download and are the same. */
  readonly kept: number;
  /** Attempts whose files were compared with what the harness recorded. */
  readonly attempts: number;
  /** Differences from what was recorded, and entries that the reader would not serve; one sentence each. */
  readonly problems: readonly string[];
}

const FILES_AT_ONCE = 4;

/**
 * Copies a run's folder. Every file is compared with the digest that the reader computed on the volume, and every
 * attempt with the manifest that its harness wrote and the digest that the run recorded of it. What is there already
 * is kept; a file that was cut off goes on where it stopped.
 *
 * @throws InfrastructureError `TransferCorrupted` when a file arrives altered again and again; what `ReaderClient` throws
 */
export async function downloadRun(options: DownloadOptions): Promise<DownloadResult> {
  const { reader, target, signal } = options;
  const problems: string[] = [];
  const files: TreeFile[] = [];
  for await (const line of reader.tree('', options.withAnswers ? [] : ANSWERS)) {
    if ('refused' in line) problems.push(`${line.path} is left out: ${line.refused}`);
    else if (linePath(line).split('/')[0] === DOWNLOAD_FOLDER)
      problems.push(`${line.path} has a reserved name`);
    else files.push(line);
  }
  signal.throwIfAborted();
  const totalBytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const done = { files: 0, bytes: 0, kept: 0 };
  const report = (): void => {
    options.onProgress({ files: done.files, bytes: done.bytes, totalFiles: files.length, totalBytes });
  };
  report();
  await eachBounded(files, FILES_AT_ONCE, async (file) => {
    signal.throwIfAborted();
    const fetched: FetchedFile = await fetchFile(reader, target, file, signal);
    done.files += 1;
    done.bytes += file.bytes;
    if (fetched === 'kept') done.kept += 1;
    if (fetched === 'refused') problems.push(`${file.path} cannot be written here: its name is not taken`);
    report();
  });
  signal.throwIfAborted();
  const verified = await verifyAttempts(target.root);
  await target.finish();
  return { ...done, attempts: verified.attempts, problems: [...problems, ...verified.problems] };
}
