import { z } from 'zod';

/**
 * The trace that checks and checkers are given (reference: docs/reference/trace.md). Tool names are the
 * normalised ones; `nativeName` keeps what the runtime called the tool.
 */
const traceEventBase = {
  /** Position in the trace, from 1. */
  seq: z.int(),
  /** 1-based turn of the attempt. */
  turn: z.int().optional(),
  /** ISO 8601, when the runtime recorded it. */
  time: z.string().optional(),
};

export const traceEventSchema = z.discriminatedUnion('type', [
  z.object({ ...traceEventBase, type: z.literal('user_message'), text: z.string() }),
  z.object({ ...traceEventBase, type: z.literal('assistant_message'), text: z.string() }),
  z.object({
    ...traceEventBase,
    type: z.literal('tool_call'),
    tool: z.string(),
    args: z.unknown(),
    call_id: z.string().optional(),
    nativeName: z.string().optional(),
    surface: z.string().nullable().optional(),
    /** True when the adapter's map does not know the native name: it is kept as it is and earns nothing by spelling. */
    unmapped: z.boolean().optional(),
  }),
  z.object({
    ...traceEventBase,
    type: z.literal('tool_result'),
    tool: z.string(),
    result: z.unknown(),
    /** HTTP-like status, `ok` or `error`, as the runtime gave it. */
    status: z.union([z.int(), z.string()]).nullable().optional(),
    call_id: z.string().optional(),
    nativeName: z.string().optional(),
  }),
]);
export type TraceEvent = z.infer<typeof traceEventSchema>;
export type ToolCallEvent = Extract<TraceEvent, { type: 'tool_call' }>;
export type ToolResultEvent = Extract<TraceEvent, { type: 'tool_result' }>;

export const traceMetricsSchema = z.object({
  assistant_turns: z.int().default(0),
  tool_calls: z.int().default(0),
  input_tokens: z.number().default(0),
  output_tokens: z.number().default(0),
  cache_read_tokens: z.number().default(0),
  cache_write_tokens: z.number().default(0),
  total_tokens: z.number().default(0),
  cost_usd: z.number().default(0),
  wall_time_s: z.number().default(0),
  /** True when tokens or cost were estimated rather than reported by the provider. */
  estimated: z.boolean().optional(),
});
export type TraceMetrics = z.infer<typeof traceMetricsSchema>;

export const traceSchema = z
  .object({
    events: z.array(traceEventSchema),
    // A trace that does not count its tool calls has as many as it has events of them.
    metrics: traceMetricsSchema.extend({ tool_calls: z.int().optional() }).prefault({}),
    audit_state: z.record(z.string(), z.unknown()).default({}),
  })
  .transform((trace) => ({
    ...trace,
    metrics: {
      ...trace.metrics,
      tool_calls:
        trace.metrics.tool_calls ?? trace.events.filter((event) => event.type === 'tool_call').length,
    },
  }));
export type Trace = z.infer<typeof traceSchema>;

/** A trace in which nothing happened: what a do-nothing agent leaves. */
export function emptyTrace(): Trace {
  return traceSchema.parse({ events: [] });
}
