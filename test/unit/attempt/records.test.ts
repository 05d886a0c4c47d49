import { describe, expect, it } from 'vitest';
import { runtimeProbeSchema, timelineSchema, toolUsageSchema } from '../../../src/api/attempt-records.ts';
import type { TraceEvent } from '../../../src/api/trace.ts';
import { buildRuntimeProbe } from '../../../src/attempt/records/runtime-probe.ts';
import { buildTimeline } from '../../../src/attempt/records/timeline.ts';
import { buildToolUsage } from '../../../src/attempt/records/tool-usage.ts';
import type { CollectedTree } from '../../../src/artifacts/collect-tree.ts';

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString();
const origin = Date.parse(at(0));

const call = (seq: number, tool: string, extra: Partial<Extract<TraceEvent, { type: 'tool_call' }>> = {}) =>
  ({ seq, type: 'tool_call', tool, args: {}, ...extra }) satisfies TraceEvent;
const result = (
  seq: number,
  tool: string,
  extra: Partial<Extract<TraceEvent, { type: 'tool_result' }>> = {},
) => ({ seq, type: 'tool_result', tool, result: null, ...extra }) satisfies TraceEvent;

describe('tool_usage.json', () => {
  it('lists names in order of first use, counts and every call with its result', () => {
    const usage = buildToolUsage([
      call(1, 'write', { call_id: 'a', turn: 1, nativeName: 'Write', surface: null }),
      call(2, 'read', { call_id: 'b', unmapped: true }),
      result(3, 'read', { call_id: 'b', status: 404 }),
      result(4, 'write', { call_id: 'a', status: 'ok' }),
      call(5, 'write', { call_id: 'c' }),
    ]);
    expect(usage).toMatchObject({ tool_names: ['write', 'read'], tool_counts: { write: 2, read: 1 } });
    expect(usage.tool_calls.map((c) => [c.seq, c.tool, c.resultSeq, c.status])).toEqual([
      [1, 'write', 4, 'ok'],
      [2, 'read', 3, 404],
      [5, 'write', null, null],
    ]);
    expect(toolUsageSchema.parse(JSON.parse(JSON.stringify(usage)))).toEqual(usage);
  });

  it('matches results without ids to the calls of the same tool in order', () => {
    const usage = buildToolUsage([
      call(1, 'x'),
      call(2, 'x'),
      result(3, 'x'),
      result(4, 'y'),
      result(5, 'x'),
    ]);
    expect(usage.tool_calls.map((c) => c.resultSeq)).toEqual([3, 5]);
  });

  it('counts tools that are named like properties of objects', () => {
    const usage = buildToolUsage([call(1, '__proto__'), call(2, 'constructor'), call(3, '__proto__')]);
    expect(Object.entries(usage.tool_counts)).toEqual([
      ['__proto__', 2],
      ['constructor', 1],
    ]);
    expect(JSON.stringify(usage)).toContain('"__proto__":2');
  });
});

describe('timeline.json', () => {
  const turn = {
    phase: 'executor',
    name: 'turn 1',
    start: origin + 1000,
    end: origin + 9000,
    turn: 1,
  } as const;

  it('puts tool calls below the turn they belong to', () => {
    const timeline = buildTimeline(
      origin,
      [{ phase: 'container_lifecycle', name: 'stage', start: origin, end: origin + 1000 }, turn],
      [
        call(1, 'write', { call_id: 'a', time: at(2) }),
        result(2, 'write', { call_id: 'a', time: at(3) }),
        call(3, 'shell', { call_id: 'b', time: at(4), turn: 1 }),
        call(4, 'read'),
      ],
    );
    expect(timeline.spans.map(({ id, parent, startMs, endMs }) => [id, parent, startMs, endMs])).toEqual([
      ['step-1', null, 0, 1000],
      ['step-2', null, 1000, 9000],
      ['call-1', 'step-2', 2000, 3000],
      ['call-3', 'step-2', 4000, 9000],
    ]);
    expect(timeline.untimedToolCalls).toBe(1);
    expect(timelineSchema.parse(timeline)).toEqual(timeline);
  });

  it('never ends a span before it starts, whatever clock the runtime had', () => {
    const timeline = buildTimeline(
      origin,
      [turn],
      [
        call(1, 'write', { call_id: 'a', time: at(5) }),
        result(2, 'write', { call_id: 'a', time: at(4) }),
        call(3, 'write', { time: 'yesterday' }),
      ],
    );
    expect(timeline.spans.at(-1)).toMatchObject({ startMs: 5000, endMs: 5000 });
    expect(timeline.untimedToolCalls).toBe(1);
  });
});

describe('runtime_probe.json', () => {
  const file = (path: string, origin: 'agent' | 'scenario' | 'scaffold') =>
    ({ path, bytes: 1, mode: 0o644, sha256: 'x', origin }) as const;
  const tree: CollectedTree = {
    status: 'complete',
    files: [file('a', 'agent'), file('b', 'scenario'), file('c', 'scaffold')],
    omitted: [{ path: 'd', reason: 'symlink', bytes: null, count: 3 }],
    deleted: [],
    totalBytes: 3,
    digest: 'd',
  };

  it('lists what the agent made, not what was there', () => {
    const probe = buildRuntimeProbe(at(0), [{ pid: 7, uid: null, command: 'sleep' }], [tree]);
    expect(probe).toMatchObject({
      processes: [{ pid: 7, uid: null, command: 'sleep' }],
      result_files: [{ path: 'a' }],
      result_files_unlisted: 0,
      workspace: { exists: true, files: 3, bytes: 3, omitted: 3 },
    });
    expect(runtimeProbeSchema.parse(probe)).toEqual(probe);
  });

  it('bounds the list and says how many it leaves out', () => {
    const files = Array.from({ length: 1002 }, (_, n) => file(`f${n}`, 'agent'));
    const probe = buildRuntimeProbe(at(0), [], [{ ...tree, status: 'source_missing', files }]);
    expect(probe.result_files).toHaveLength(1000);
    expect(probe.result_files_unlisted).toBe(2);
    expect(probe.workspace.exists).toBe(false);
  });
});
