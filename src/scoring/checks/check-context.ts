import type { Trace, ToolCallEvent, ToolResultEvent } from '../../api/trace.ts';
import type { WorkspaceReader } from '../workspace-reader.ts';

/** What the checks of one trial read. Built once, from a normalised trace. */
export interface CheckContext {
  /** Calls of all tools, in order. */
  readonly calls: readonly ToolCallEvent[];
  readonly results: readonly ToolResultEvent[];
  /** All non-empty assistant messages, joined by line feeds: what counts as the agent's response. */
  readonly response: string;
  readonly auditState: Readonly<Record<string, unknown>>;
  readonly workspace: WorkspaceReader;
}

/** The share of its points that a check earns, before clamping to 0..1, and why, for a person to read. */
export interface Credit {
  readonly ratio: number;
  readonly detail: string;
}

export function checkContext(trace: Trace, workspace: WorkspaceReader): CheckContext {
  return {
    calls: trace.events.filter((event) => event.type === 'tool_call'),
    results: trace.events.filter((event) => event.type === 'tool_result'),
    response: trace.events
      .filter((event) => event.type === 'assistant_message')
      .map((event) => event.text)
      .filter((text) => text !== '')
      .join('\n'),
    auditState: trace.audit_state,
    workspace,
  };
}

/** 1 or 0. */
export function allOrNothing(holds: boolean, detail: string): Credit {
  return { ratio: holds ? 1 : 0, detail };
}
