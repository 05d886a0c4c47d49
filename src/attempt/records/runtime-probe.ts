import { ATTEMPT_SCHEMA_VERSION } from '../../api/attempt.ts';
import type { RuntimeProbe } from '../../api/attempt-records.ts';
import type { CollectedTree } from '../../artifacts/collect-tree.ts';

/** Result files that the probe lists; all of them stand in manifest.json. */
const LISTED = 1000;

export interface ProbedProcess {
  readonly pid: number;
  readonly uid: number | null;
  readonly command: string;
}

/**
 * runtime_probe.json: the processes that were alive when the last turn had ended, and what the agent made. Pure.
 *
 * @param trees collected folders of the agent, the workspace first
 */
export function buildRuntimeProbe(
  takenAt: string,
  processes: readonly ProbedProcess[],
  trees: readonly [CollectedTree, ...CollectedTree[]],
): RuntimeProbe {
  const [workspace] = trees;
  const made = trees.flatMap((tree) => tree.files.filter((file) => file.origin === 'agent'));
  return {
    schema_version: ATTEMPT_SCHEMA_VERSION,
    takenAt,
    processes: processes.map(({ pid, uid, command }) => ({ pid, uid, command })),
    result_files: made.slice(0, LISTED).map(({ path, bytes, sha256 }) => ({ path, bytes, sha256 })),
    result_files_unlisted: Math.max(0, made.length - LISTED),
    workspace: {
      exists: workspace.status !== 'source_missing',
      files: workspace.files.length,
      bytes: workspace.totalBytes,
      omitted: workspace.omitted.reduce((sum, { count }) => sum + count, 0),
    },
  };
}
