import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { AttemptMeta } from '../api/attempt-meta.ts';
import { ATTEMPT_SCHEMA_VERSION, type Usage } from '../api/attempt.ts';
import { InfrastructureError, isDiskFull, messageOf } from '../api/errors.ts';
import type { ModelCallRecord } from '../api/model-calls.ts';
import { attemptLayout, type AttemptLayout } from '../api/run-layout.ts';
import type { Baseline } from '../artifacts/baseline.ts';
import { collectTree, type CollectedTree } from '../artifacts/collect-tree.ts';
import { writeManifest } from '../artifacts/manifest.ts';
import { readUntrustedFile } from '../artifacts/untrusted-file.ts';
import type { SessionReading } from '../runtimes/adapter.ts';
import type { Executor } from './executor.ts';
import type { Journal } from './journal.ts';
import { accountedUsage } from './model-access.ts';
import { buildRuntimeProbe, type ProbedProcess } from './records/runtime-probe.ts';
import { buildTimeline } from './records/timeline.ts';
import { buildToolUsage } from './records/tool-usage.ts';
import { buildTranscript } from './records/transcript.ts';

/** Bounds of what a runtime's own session files may take. */
const NATIVE_FILE_BYTES = 64 * 1024 ** 2;

/** The runtime's session as nobody left it. */
export const NO_SESSION: SessionReading = {
  sessionId: null,
  events: [],
  stopReason: null,
  observations: [],
  usage: {
    schema_version: ATTEMPT_SCHEMA_VERSION,
    assistantTurns: 0,
    toolCalls: 0,
    inputTokens: null,
    outputTokens: null,
    cacheReadTokens: null,
    cacheWriteTokens: null,
    totalTokens: null,
    costUsd: null,
    source: 'none',
  } satisfies Usage,
  placeholder: false,
  nativeFiles: [],
  auditState: {},
};

export interface CollectedWorkspace {
  readonly workspace: CollectedTree;
  /** Results of a task. */
  readonly result: CollectedTree | null;
}

/**
 * Copies what the agent left into the attempt directory. Called when every process of the agent is dead.
 *
 * @throws InfrastructureError `CollectionCutShort` when the signal came first, `DiskFull`, `ArtifactWriteFailed`
 */
export async function collectAgentFiles(
  executor: Executor,
  attemptDir: string,
  format: 'scenario' | 'task',
  baseline: Baseline,
  signal: AbortSignal,
): Promise<CollectedWorkspace> {
  const layout = attemptLayout(attemptDir);
  const agent = executor.owner === null ? {} : { agentUid: executor.owner.uid };
  const collect = async (
    source: string,
    target: string,
    options: { baseline?: Baseline; recordedAs: string },
  ) => {
    const tree = await collectTree({ source, target, signal, ...agent, ...options });
    if (tree.status !== 'cut_short') return tree;
    throw new InfrastructureError('CollectionCutShort', `collecting ${options.recordedAs}/ took too long`);
  };
  const { workspace } = executor.paths;
  return {
    workspace: await collect(workspace, layout.workspace, { baseline, recordedAs: 'workspace' }),
    result:
      format === 'task'
        ? await collect(join(workspace, 'results'), layout.result, { recordedAs: 'result' })
        : null,
  };
}

/** Keeps the runtime's own session files unchanged under native/. @returns why some could not be kept */
export async function keepNativeFiles(
  executor: Executor,
  layout: AttemptLayout,
  files: readonly string[],
): Promise<readonly string[]> {
  const problems: string[] = [];
  const { state, home, workspace } = executor.paths;
  for (const file of files) {
    const root = [state, home, workspace].find((folder) => file.startsWith(`${folder}/`));
    if (root === undefined) {
      problems.push(`${file} lies outside the agent's folders`);
      continue;
    }
    const path = relative(root, file);
    const content = readUntrustedFile(root, path, NATIVE_FILE_BYTES);
    if (content.kind === 'refused') problems.push(content.message);
    if (content.kind !== 'file') continue;
    const target = join(layout.native, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, content.bytes);
  }
  return problems;
}

export interface AttemptRecords {
  readonly session: SessionReading;
  /** By the gateway's account; null where there is none. */
  readonly modelCalls: readonly ModelCallRecord[] | null;
  readonly adapterVersion: string;
  readonly meta: AttemptMeta;
  readonly processes: readonly ProbedProcess[];
  readonly collected: CollectedWorkspace;
  readonly probedAt: string;
}

/**
 * Writes the records of an attempt that are derived from session and journal, and the manifest over everything.
 * Only the manifest is flushed to the disk: it tells whether the others came through a power cut.
 *
 * @returns the manifest's digest
 * @throws InfrastructureError `DiskFull` and other system errors
 */
export async function writeRecords(
  layout: AttemptLayout,
  journal: Journal,
  records: AttemptRecords,
): Promise<string> {
  const { session, modelCalls, meta, collected } = records;
  const usage = modelCalls === null ? session.usage : accountedUsage(session.usage, modelCalls);
  const header = {
    schema_version: ATTEMPT_SCHEMA_VERSION,
    trial: meta.trial,
    attempt: meta.attempt,
    sessionId: session.sessionId,
    adapterVersion: records.adapterVersion,
  } as const;
  const trees = [collected.workspace, ...(collected.result === null ? [] : [collected.result])] as const;
  const json = (path: string, value: unknown) => writeFile(path, `${JSON.stringify(value, null, 2)}\n`);
  try {
    await Promise.all([
      writeFile(layout.transcriptJsonl, buildTranscript(header, session.events)),
      json(layout.toolUsageJson, buildToolUsage(session.events)),
      json(layout.runtimeProbeJson, buildRuntimeProbe(records.probedAt, records.processes, trees)),
      json(layout.usageJson, usage),
      json(layout.timelineJson, buildTimeline(Date.parse(meta.startedAt), journal.steps, session.events)),
      json(layout.metaJson, meta),
      ...(modelCalls === null
        ? []
        : [
            writeFile(layout.modelCallsJsonl, modelCalls.map((call) => `${JSON.stringify(call)}\n`).join('')),
          ]),
      ...(Object.keys(session.auditState).length === 0
        ? []
        : [
            json(layout.auditStateJson, {
              schema_version: ATTEMPT_SCHEMA_VERSION,
              state: session.auditState,
            }),
          ]),
    ]);
  } catch (error) {
    throw new InfrastructureError(isDiskFull(error) ? 'DiskFull' : 'ArtifactWriteFailed', messageOf(error), {
      cause: error,
    });
  }
  const { digest } = await writeManifest(layout.root, {
    workspace: collected.workspace,
    others: trees.slice(1),
  });
  return digest;
}
