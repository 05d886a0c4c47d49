import { ATTEMPT_SCHEMA_VERSION } from '../../api/attempt.ts';
import type { Timeline, TimelinePhase, TimelineSpan } from '../../api/attempt-records.ts';
import type { TraceEvent } from '../../api/trace.ts';
import { resultsOfCalls } from './tool-usage.ts';

/** Something the harness did or watched. Times are milliseconds since the epoch. */
export interface TimedStep {
  readonly phase: TimelinePhase;
  readonly name: string;
  readonly start: number;
  /** null: it did not end before the attempt did. */
  readonly end: number | null;
  readonly turn?: number;
}

/**
 * timeline.json: one span for each step of the harness, and below the executor's turns one for each tool call
 * whose time the runtime recorded. A call without a result in time ends with its turn. Pure.
 *
 * @param origin milliseconds since the epoch that all spans count from: the attempt's start
 */
export function buildTimeline(
  origin: number,
  steps: readonly TimedStep[],
  events: readonly TraceEvent[],
): Timeline {
  const spans = steps.map((step, at) => ({
    id: `step-${at + 1}`,
    parent: null,
    phase: step.phase,
    name: step.name,
    startMs: step.start - origin,
    endMs: step.end === null ? null : step.end - origin,
    turn: step.turn ?? null,
  }));
  const { spans: calls, untimed } = toolCallSpans(origin, spans, events);
  return {
    schema_version: ATTEMPT_SCHEMA_VERSION,
    origin: new Date(origin).toISOString(),
    spans: [...spans, ...calls],
    untimedToolCalls: untimed,
  };
}

function toolCallSpans(
  origin: number,
  steps: readonly TimelineSpan[],
  events: readonly TraceEvent[],
): { spans: TimelineSpan[]; untimed: number } {
  const results = resultsOfCalls(events);
  const spans: TimelineSpan[] = [];
  let untimed = 0;
  for (const event of events) {
    if (event.type !== 'tool_call') continue;
    const start = timeOf(event);
    if (start === null) {
      untimed += 1;
      continue;
    }
    const startMs = start - origin;
    const turn = turnAround(steps, event.turn, startMs);
    const result = results.get(event.seq);
    const end = result === undefined ? null : timeOf(result);
    spans.push({
      id: `call-${event.seq}`,
      parent: turn?.id ?? null,
      phase: 'executor',
      name: event.tool,
      startMs,
      // Clocks of a runtime may step back; a span never ends before it starts.
      endMs: end === null ? (turn?.endMs ?? null) : Math.max(startMs, end - origin),
      turn: event.turn ?? turn?.turn ?? null,
    });
  }
  return { spans, untimed };
}

/** The executor's span that a call belongs to: by its turn where it has one, else by its time. */
function turnAround(
  steps: readonly TimelineSpan[],
  turn: number | undefined,
  startMs: number,
): TimelineSpan | undefined {
  const turns = steps.filter((step) => step.phase === 'executor' && step.turn !== null);
  if (turn !== undefined) return turns.find((step) => step.turn === turn);
  return turns.find((step) => step.startMs <= startMs && startMs <= (step.endMs ?? Infinity));
}

function timeOf(event: TraceEvent): number | null {
  const time = event.time === undefined ? Number.NaN : Date.parse(event.time);
  return Number.isNaN(time) ? null : time;
}
