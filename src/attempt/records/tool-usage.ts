import { ATTEMPT_SCHEMA_VERSION } from '../../api/attempt.ts';
import type { ToolCallRecord, ToolUsage } from '../../api/attempt-records.ts';
import type { ToolResultEvent, TraceEvent } from '../../api/trace.ts';

/** tool_usage.json of a session's events. Pure. */
export function buildToolUsage(events: readonly TraceEvent[]): ToolUsage {
  const results = resultsOfCalls(events);
  const counts = new Map<string, number>();
  const calls: ToolCallRecord[] = [];
  for (const event of events) {
    if (event.type !== 'tool_call') continue;
    counts.set(event.tool, (counts.get(event.tool) ?? 0) + 1);
    const result = results.get(event.seq);
    calls.push({
      seq: event.seq,
      turn: event.turn ?? null,
      tool: event.tool,
      nativeName: event.nativeName ?? null,
      surface: event.surface ?? null,
      unmapped: event.unmapped ?? false,
      call_id: event.call_id ?? null,
      resultSeq: result?.seq ?? null,
      status: result?.status ?? null,
    });
  }
  return {
    schema_version: ATTEMPT_SCHEMA_VERSION,
    tool_names: [...counts.keys()],
    // fromEntries makes own properties also of names like `__proto__`, which an agent may invent.
    tool_counts: Object.fromEntries(counts),
    tool_calls: calls,
  };
}

/**
 * The result of each call, by the call's `seq`: by call_id where both have one, else the next result of the same
 * tool that no call has yet.
 */
export function resultsOfCalls(events: readonly TraceEvent[]): ReadonlyMap<number, ToolResultEvent> {
  const found = new Map<number, ToolResultEvent>();
  const openById = new Map<string, number[]>();
  const openByTool = new Map<string, number[]>();
  const push = (map: Map<string, number[]>, key: string, seq: number) => {
    const queue = map.get(key);
    if (queue === undefined) map.set(key, [seq]);
    else queue.push(seq);
  };
  for (const event of events) {
    if (event.type === 'tool_call') {
      if (event.call_id === undefined) push(openByTool, event.tool, event.seq);
      else push(openById, event.call_id, event.seq);
    } else if (event.type === 'tool_result') {
      const queue = event.call_id === undefined ? openByTool.get(event.tool) : openById.get(event.call_id);
      const call = queue?.shift();
      if (call !== undefined) found.set(call, event);
    }
  }
  return found;
}
