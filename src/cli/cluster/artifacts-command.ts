import { EXIT, type ExitCode } from '../exit-codes.ts';
import { downloadRun, type DownloadProgress, type DownloadResult } from '../download/download-run.ts';
import { openTarget } from '../download/target.ts';
import { interruptSignal } from '../interrupt.ts';
import { createBar } from '../progress-bar.ts';
import { getRun, withCluster } from './connect.ts';
import { withReader } from './reader-session.ts';
import type { ClusterFlags } from './options.ts';
import type { ReaderFlags } from './reader-options.ts';

export interface ArtifactsCommand extends ReaderFlags {
  readonly flags: ClusterFlags;
  readonly name: string;
  readonly output: string;
  readonly withAnswers: boolean;
  readonly json: boolean;
}

/** What `clawbench artifacts` does. */
export async function copyArtifacts(command: ArtifactsCommand): Promise<ExitCode> {
  const interrupt = interruptSignal(
    'ending: what is copied is kept, the same command goes on (once more to end at once)',
  );
  let progress: DownloadProgress | undefined;
  const bar = createBar(process.stderr, (columns) =>
    progress === undefined ? null : copyLine(progress, columns),
  );
  try {
    const result = await withCluster(command.flags, async (cluster) => {
      const run = await getRun(cluster, command.name);
      const { uid, name, namespace = '' } = run.metadata;
      const target = await openTarget(command.output, { uid, run: name, namespace });
      return withReader(
        cluster,
        run,
        {
          image: command.image,
          pullSecrets: command.pullSecret ?? [],
          startMs: command.startSeconds * 1000,
          signal: interrupt.signal,
          say: bar.line,
        },
        (reader) =>
          downloadRun({
            reader,
            target,
            withAnswers: command.withAnswers,
            signal: interrupt.signal,
            onProgress: (next) => {
              progress = next;
              bar.redraw();
            },
          }),
      );
    });
    bar.close();
    console.log(command.json ? JSON.stringify(result, null, 2) : resultText(result, command));
    return result.problems.length === 0 ? EXIT.DONE : EXIT.EXECUTION_FAILURES;
  } catch (error) {
    if (interrupt.signal.aborted) return EXIT.INTERRUPTED;
    throw error;
  } finally {
    bar.close();
    interrupt.release();
  }
}

/** One line, at most `columns` wide: `[####------] 120/310 files  4.0 of 9.9 MB`. */
export function copyLine(
  { files, bytes, totalFiles, totalBytes }: DownloadProgress,
  columns: number,
): string {
  const width = 20;
  const filled = totalBytes === 0 ? width : Math.round((bytes / totalBytes) * width);
  const bar = `[${'#'.repeat(filled)}${'-'.repeat(width - filled)}]`;
  return `${bar} ${files}/${totalFiles} files  ${megabytes(bytes)} of ${megabytes(totalBytes)} MB`.slice(
    0,
    Math.max(20, columns - 1),
  );
}

/** What was copied, what was left out on purpose, and every difference from what was recorded. */
export function resultText(
  result: DownloadResult,
  { output, withAnswers }: { output: string; withAnswers: boolean },
): string {
  const kept = result.kept === 0 ? '' : `, ${result.kept} of them were there already`;
  return [
    `${result.files} files, ${megabytes(result.bytes)} MB in ${output}${kept}`,
    `${result.attempts} attempts compared with their manifests: ${result.problems.length === 0 ? 'all as recorded' : `${result.problems.length} problems`}`,
    ...result.problems.map((problem) => `  ${problem}`),
    ...(withAnswers
      ? []
      : ["the suite's answers (suite/hidden, suite/scripted) are left out; --with-answers copies them"]),
  ].join('\n');
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}
