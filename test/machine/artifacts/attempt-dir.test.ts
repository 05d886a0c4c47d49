import {
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AttemptResult } from '../../../src/api/attempt.ts';
import type { AttemptMeta } from '../../../src/api/attempt-meta.ts';
import { attemptLayout } from '../../../src/api/run-layout.ts';
import type { TraceEvent } from '../../../src/api/trace.ts';
import { createAttemptDir, readResult, writeResultOnce } from '../../../src/artifacts/attempt-dir.ts';
import { collectTree } from '../../../src/artifacts/collect-tree.ts';
import {
  manifestDigest,
  readManifest,
  verifyManifest,
  writeManifest,
} from '../../../src/artifacts/manifest.ts';
import { readTranscript, traceOfAttempt } from '../../../src/artifacts/transcript.ts';
import { buildTranscript } from '../../../src/attempt/records/transcript.ts';
import { isLinux, useScratch, workspaceIn } from './scratch.ts';

const scratch = useScratch();

const result: AttemptResult = {
  schema_version: 1,
  trial: 'run-0123456789',
  attempt: 1,
  podUID: 'uid',
  startedAt: '2026-01-01T00:00:00.000Z',
  endedAt: '2026-01-01T00:00:10.000Z',
  observations: [],
  killReason: null,
  exitCode: 0,
  signal: null,
  oomKills: 0,
  turns: 1,
  completion: { completed: true, signal: 'stop_reason', reason: '', conflict: false },
  runtimeMs: 2500,
  wallClockMs: 10_000,
  collected: true,
  manifestDigest: null,
  isolation: 'uid',
};

async function attempt() {
  const { root, source } = workspaceIn(scratch());
  const dir = join(root, 'attempts', '1');
  await createAttemptDir(dir);
  const layout = attemptLayout(dir);
  writeFileSync(layout.promptMd, 'Do it.');
  mkdirSync(layout.logs);
  writeFileSync(join(layout.logs, 'agent.log'), 'log');
  writeFileSync(join(source, 'out.txt'), 'out');
  if (isLinux) writeFileSync(Buffer.concat([Buffer.from(`${source}/`), Buffer.from([0xff])]), 'odd');
  const workspace = await collectTree({ source, target: layout.workspace, recordedAs: 'workspace' });
  return { dir, layout, workspace };
}

describe('an attempt directory', () => {
  it('belongs to whoever made it', async () => {
    const { dir } = await attempt();
    await expect(createAttemptDir(dir)).rejects.toMatchObject({ reason: 'AttemptTaken' });
  });

  it('gets its result once', async () => {
    const { dir } = await attempt();
    expect(await readResult(dir)).toBeUndefined();
    await writeResultOnce(dir, result);
    await expect(writeResultOnce(dir, { ...result, exitCode: 1 })).rejects.toMatchObject({
      reason: 'AttemptEnded',
    });
    expect(await readResult(dir)).toEqual(result);
    expect(readdirSync(join(dir, '..'))).toEqual(['1']);
  });
});

describe('the manifest', () => {
  it('has every file of the attempt but itself and the result, with where it comes from', async () => {
    const { dir, workspace } = await attempt();
    const { manifest, digest } = await writeManifest(dir, { workspace });
    await writeResultOnce(dir, { ...result, manifestDigest: digest });
    const odd = isLinux ? [['workspace/\\xff', 'agent']] : [];
    expect(manifest.files.map(({ path, origin }) => [path, origin])).toEqual([
      ['logs/agent.log', 'harness'],
      ['prompt.md', 'harness'],
      ['workspace/out.txt', 'agent'],
      ...odd,
    ]);
    expect(manifest.workspaceDigest).toBe(workspace.digest);
    expect(await readManifest(dir)).toEqual(manifest);
    expect(manifestDigest(manifest)).toBe(digest);
    expect(await verifyManifest(dir, digest)).toEqual([]);
  });

  it('shows whatever was changed, added, removed or put in the place of a file', async () => {
    const { dir, layout, workspace } = await attempt();
    const { digest } = await writeManifest(dir, { workspace });
    writeFileSync(layout.promptMd, 'Do that.');
    writeFileSync(join(layout.workspace, 'more.txt'), '');
    renameSync(join(layout.workspace, 'out.txt'), join(dir, '..', 'out.txt'));
    symlinkSync('../../out.txt', join(layout.workspace, 'out.txt'));
    rmSync(join(layout.logs, 'agent.log'));
    const problems = await verifyManifest(dir, digest);
    expect(problems.map(({ kind, path }) => [kind, path]).sort()).toEqual([
      ['added', 'workspace/more.txt'],
      ['changed', 'prompt.md'],
      ['changed', 'workspace/out.txt'],
      ['missing', 'logs/agent.log'],
    ]);
  });

  it('shows a manifest that was replaced, broken or lost', async () => {
    const { dir, layout, workspace } = await attempt();
    const { manifest, digest } = await writeManifest(dir, { workspace });
    writeFileSync(layout.manifestJson, JSON.stringify({ ...manifest, totalBytes: 1 }));
    expect(await verifyManifest(dir, digest)).toMatchObject([{ kind: 'digest' }]);
    writeFileSync(layout.manifestJson, '{');
    expect(await verifyManifest(dir, digest)).toMatchObject([{ kind: 'invalid_manifest' }]);
    rmSync(layout.manifestJson);
    expect(await verifyManifest(dir)).toMatchObject([{ kind: 'no_manifest' }]);
  });
});

const header = {
  schema_version: 1,
  trial: 'run-0123456789',
  attempt: 1,
  sessionId: 's',
  adapterVersion: '1',
} as const;
const events: TraceEvent[] = [
  { seq: 1, turn: 1, type: 'user_message', text: 'line\nbreak \u2028 and \u{1f600}' },
  {
    seq: 2,
    type: 'tool_call',
    tool: 'write',
    args: { path: 'a' },
    call_id: 'c',
    nativeName: 'Write',
    surface: null,
  },
  { seq: 3, type: 'tool_result', tool: 'write', result: { ok: true }, status: 200, call_id: 'c' },
  { seq: 4, type: 'assistant_message', text: 'Done.' },
];

describe('the trace of an attempt', () => {
  it('comes back from transcript.jsonl as it was', async () => {
    const { layout } = await attempt();
    writeFileSync(layout.transcriptJsonl, buildTranscript(header, events));
    expect(readFileSync(layout.transcriptJsonl, 'utf8').split('\n')).toHaveLength(6);
    expect(await readTranscript(layout.transcriptJsonl)).toEqual({ header, events });
  });

  it('has metrics of usage.json, executor time of meta.json and the audit state', async () => {
    const { dir, layout } = await attempt();
    writeFileSync(layout.transcriptJsonl, buildTranscript(header, events));
    const usage = {
      schema_version: 1,
      assistantTurns: 1,
      toolCalls: 1,
      inputTokens: 10,
      outputTokens: null,
      cacheReadTokens: null,
      cacheWriteTokens: null,
      totalTokens: 10,
      costUsd: null,
      source: 'estimate',
    };
    writeFileSync(layout.usageJson, JSON.stringify(usage));
    writeFileSync(layout.metaJson, JSON.stringify(meta));
    writeFileSync(layout.auditStateJson, JSON.stringify({ schema_version: 1, state: { sent: [1] } }));
    const trace = await traceOfAttempt(dir, { trial: header.trial, attempt: 1 });
    expect(trace.events).toEqual(events);
    expect(trace.metrics).toMatchObject({
      assistant_turns: 1,
      tool_calls: 1,
      input_tokens: 10,
      output_tokens: 0,
      cost_usd: 0,
      wall_time_s: 2.5,
      estimated: true,
    });
    expect(trace.audit_state).toEqual({ sent: [1] });
  });

  it('is empty where an attempt left none', async () => {
    const { dir } = await attempt();
    expect(await traceOfAttempt(dir)).toMatchObject({
      events: [],
      audit_state: {},
      metrics: { tool_calls: 0 },
    });
  });

  it('is refused when it belongs to another trial', async () => {
    const { dir, layout } = await attempt();
    writeFileSync(layout.transcriptJsonl, buildTranscript(header, events));
    await expect(traceOfAttempt(dir, { trial: 'other', attempt: 1 })).rejects.toThrow(
      /belongs to attempt 1 of trial run-/,
    );
    await expect(traceOfAttempt(dir, { trial: header.trial, attempt: 2 })).rejects.toThrow(
      /not to attempt 2/,
    );
  });

  it('names file, line and field of everything that is wrong with a transcript', async () => {
    const { layout } = await attempt();
    const lines = [
      JSON.stringify({ ...header, attempt: 0 }),
      '{',
      JSON.stringify({ seq: 1, type: 'thought' }),
    ];
    const twice = events.slice(2, 3).map((event) => JSON.stringify(event));
    writeFileSync(layout.transcriptJsonl, [...lines, ...twice, ...twice, ''].join('\n'));
    await expect(readTranscript(layout.transcriptJsonl)).rejects.toMatchObject({
      problems: [
        { file: layout.transcriptJsonl, line: 1, field: 'attempt' },
        { line: 2 },
        { line: 3, field: 'type' },
        { line: 5, field: 'seq' },
      ],
    });
    writeFileSync(layout.transcriptJsonl, '');
    await expect(readTranscript(layout.transcriptJsonl)).rejects.toThrow('transcript.jsonl:1');
  });
});

const meta: AttemptMeta = {
  schema_version: 1,
  trial: header.trial,
  attempt: 1,
  taskId: 'scenario',
  backend: 'scripted',
  model: null,
  sessionId: 's',
  startedAt: result.startedAt,
  endedAt: result.endedAt,
  turns: 1,
  continuations: [],
  supervisionDecisions: [],
  runtimeMs: 2500,
  wallClockMs: 10_000,
  agentExitCode: 0,
  agentSignal: null,
  killReason: null,
  oomKills: 0,
  executorCompleted: true,
  executorCompletionSignal: 'stop_reason',
  executorCompletionReason: '',
  executorCompletionConflict: false,
  timeouts: {
    queued: 1,
    start: 1,
    startupSilence: 1,
    stall: 1,
    turn: 1,
    total: 1,
    settle: 1,
    wall: 1,
    collect: 1,
    scoring: 1,
  },
  isolation: 'uid',
  dispatch: [{ event: 'turn_started', at: result.startedAt, runtimeMs: 0, turn: 1, timeoutSeconds: 180 }],
  stagedWorkspaceDigest: 'a',
  workspaceDigest: 'b',
  promptSha256: 'c',
  promptPrefixSha256: null,
  versions: { operator: '1', runtime: '1', adapter: '1', toolMap: '1', node: '26' },
};
