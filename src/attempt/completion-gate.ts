import type { Completion } from '../api/attempt.ts';
import type { TraceEvent } from '../api/trace.ts';
import { hasCompletionMarker } from './completion-markers.ts';

/** What the gate looks at: a session as the adapter read it. */
export interface GatedSession {
  /** Stop reason of the last model answer in the runtime's own word; null where the runtime has none. */
  readonly stopReason: string | null;
  readonly events: readonly TraceEvent[];
  /** Only the runtime's placeholder text, or no assistant message at all. */
  readonly placeholder: boolean;
}

/** A runtime's own words beside the common ones: true complete, false incomplete, null unknown. */
export type CompletesWith = (stopReason: string) => boolean | null;

/**
 * Words of the executor specification, with the aliases that providers use for them, in the spelling of
 * `normalise`.
 */
const COMPLETE = new Set(['stop', 'endturn', 'stopsequence']);
const INCOMPLETE = new Set([
  'tooluse',
  'toolcall',
  'toolcalls',
  'functioncall',
  'length',
  'maxtokens',
  'maxoutputtokens',
  'error',
  'aborted',
]);

/**
 * Decides whether an executor has completed its task, in the order of the executor specification: the stop
 * reason of the API; then a last assistant message with a tool call; then a sentence such as "I have finished
 * the request". No transcript, only a placeholder, or no answer to the last message is incomplete before all.
 *
 * A completing stop reason stands also where a tool call is pending; the record then says `conflict`.
 *
 * The gate audits only a pass of the answer supervisor: an incomplete executor does not pass, it is continued
 * or fails. In a trial without supervision it is recorded and decides nothing; the checks grade what is there.
 */
export function completionGate(session: GatedSession, completesWith?: CompletesWith): Completion {
  const { stopReason, events, placeholder } = session;
  const because = (completed: boolean, signal: Completion['signal'], reason: string): Completion => ({
    completed,
    signal,
    reason,
    conflict: false,
    stopReason,
  });
  if (events.length === 0) return because(false, 'none', 'there is no transcript');
  if (placeholder) return because(false, 'none', 'the session holds no answer of the model');
  if (!answersLastMessage(events)) return because(false, 'none', 'the last message was not answered');

  const pending = pendingToolCall(events);
  const verdict = stopReason === null ? null : verdictOf(stopReason, completesWith);
  if (verdict !== null) {
    const meaning = verdict ? 'complete' : 'incomplete';
    const decided = because(verdict, 'stop_reason', `stop reason ${stopReason} means ${meaning}`);
    return { ...decided, conflict: verdict && pending !== null };
  }
  if (pending !== null) {
    return because(false, 'pending_tool_call', `the last assistant message calls ${pending}`);
  }
  return hasCompletionMarker(lastAssistantText(events))
    ? because(true, 'text_marker', 'the last assistant message says that the request is finished')
    : because(false, 'none', 'neither a stop reason nor the last message says that the request is finished');
}

/** The runtime's own meaning of a word goes before the common one. */
function verdictOf(stopReason: string, completesWith: CompletesWith | undefined): boolean | null {
  const own = completesWith?.(stopReason) ?? null;
  if (own !== null) return own;
  const word = normalise(stopReason);
  if (COMPLETE.has(word)) return true;
  return INCOMPLETE.has(word) ? false : null;
}

/** `toolUse`, `tool_use` and `tool-use` are one word. */
function normalise(stopReason: string): string {
  return stopReason.toLowerCase().replace(/[^a-z0-9]/g, '');
}

function answersLastMessage(events: readonly TraceEvent[]): boolean {
  const answer = events.findLastIndex((e) => e.type === 'assistant_message' || e.type === 'tool_call');
  return answer > events.findLastIndex((e) => e.type === 'user_message');
}

/**
 * The tool that the last assistant message calls, or null. A trace has text and tool calls of one message as
 * neighbouring events, in either order: what stands between the last message's start (a user message or a tool
 * result) and the end belongs to it. A call before the text counts only in traces that record results; without
 * them it cannot be told from an answered call.
 */
function pendingToolCall(events: readonly TraceEvent[]): string | null {
  const text = events.findLastIndex((event) => event.type === 'assistant_message');
  const after = events.slice(text + 1).findLast((event) => event.type === 'tool_call');
  if (after !== undefined) return after.tool;
  const orphan = events.slice(text + 1).findLast((event) => event.type === 'tool_result');
  if (orphan !== undefined) return orphan.tool;
  const recordsResults = events.some((event) => event.type === 'tool_result');
  if (!recordsResults) return null;
  for (let at = text - 1; at >= 0; at -= 1) {
    const event = events[at];
    if (event === undefined || event.type === 'user_message' || event.type === 'tool_result') return null;
    if (event.type === 'tool_call') return event.tool;
  }
  return null;
}

function lastAssistantText(events: readonly TraceEvent[]): string {
  return events.findLast((event) => event.type === 'assistant_message')?.text ?? '';
}
