import { z } from 'zod';
import { PROVIDER_ERROR_KINDS } from './attempt.ts';
import { MODEL_APIS } from './vocabulary.ts';

/** API formats in which a model call can be made of the gateway; `scripted` is a model, not a format. */
export const WIRE_APIS = MODEL_APIS.filter((api) => api !== 'scripted');
export type WireApi = Exclude<(typeof MODEL_APIS)[number], 'scripted'>;

/** Who makes model calls with an attempt's token. */
export const CALLER_ROLES = ['agent', 'supervision'] as const;
export type CallerRole = (typeof CALLER_ROLES)[number];

/** Tokens of one call as the provider counted them; cached ones are not part of `input`. */
export const tokenUsageSchema = z.object({
  input: z.int().min(0),
  output: z.int().min(0),
  cacheRead: z.int().min(0),
  cacheWrite: z.int().min(0),
});
export type TokenUsage = z.infer<typeof tokenUsageSchema>;

/**
 * How a call ended. `answered`: the provider's answer went through whole, whatever its status; `broken`: the provider
 * broke off or could not be reached; `abandoned`: given up before, because the caller hung up, its attempt had ended
 * or the gateway was stopped.
 */
export const CALL_ENDS = ['answered', 'broken', 'abandoned'] as const;

/** One model call as the gateway accounted it: a line of its journal and of an attempt's model-calls.jsonl. */
export const modelCallSchema = z.object({
  trial: z.string(),
  attempt: z.int().positive(),
  role: z.enum(CALLER_ROLES),
  /** 1-based among the attempt's calls, in the order they came. */
  ordinal: z.int().positive(),
  /** ISO 8601: when the call came. */
  startedAt: z.string(),
  /** Waited in the gateway's queue; milliseconds. */
  heldMs: z.number().min(0),
  /** From the call's coming to the last byte of its answer; milliseconds. */
  durationMs: z.number().min(0),
  api: z.enum(WIRE_APIS),
  stream: z.boolean(),
  end: z.enum(CALL_ENDS),
  /** HTTP status of the provider's answer; null without one. */
  status: z.int().nullable(),
  /** What kind of provider error the call ended in; null for none. */
  error: z.enum(PROVIDER_ERROR_KINDS).nullable(),
  /** null: the provider did not say. */
  usage: tokenUsageSchema.nullable(),
  /** By `spec.model.pricing`; null where tokens or prices are unknown. */
  costUsd: z.number().min(0).nullable(),
});
export type ModelCallRecord = z.infer<typeof modelCallSchema>;
