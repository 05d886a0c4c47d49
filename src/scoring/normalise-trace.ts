import type { Trace, TraceEvent } from '../api/trace.ts';
import { isMapping, pythonStr } from './python-values.ts';

/**
 * The trace as checks and checkers see it: the arguments of every tool call are an object. Arguments that are
 * none become `{raw, command}` (nothing at all becomes `{}`), and a `file` also fills `path` and `file_path` where
 * they are absent. The given trace is left as it is.
 */
export function normaliseTrace(trace: Trace): Trace {
  return { ...trace, events: trace.events.map(normaliseEvent) };
}

function normaliseEvent(event: TraceEvent): TraceEvent {
  return event.type === 'tool_call' ? { ...event, args: normaliseArguments(event.args) } : event;
}

function normaliseArguments(args: unknown): Record<string, unknown> {
  const named = isMapping(args) ? { ...args } : positional(args);
  const { file } = named;
  if (typeof file !== 'string' || file === '') return named;
  return {
    ...named,
    path: named['path'] === undefined ? file : named['path'],
    file_path: named['file_path'] === undefined ? file : named['file_path'],
  };
}

function positional(args: unknown): Record<string, unknown> {
  if (args === null || args === undefined || args === '') return {};
  return { raw: args, command: pythonStr(args) };
}
