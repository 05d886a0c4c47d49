import { z } from 'zod';
import { attemptResultSchema } from './attempt.ts';

/** Version of the harness's termination message. A controller reads this version and older ones. */
export const HARNESS_REPORT_VERSION = 1;

/** How far a harness has come; it rewrites its termination message at each step. */
export const HARNESS_STEPS = ['staging', 'staged', 'turn', 'turn_ended', 'collecting', 'done'] as const;
export type HarnessStep = (typeof HARNESS_STEPS)[number];

/** What of an attempt's result the controller needs; observations are shortened to fit. */
export const reportedResultSchema = attemptResultSchema
  .pick({
    startedAt: true,
    endedAt: true,
    observations: true,
    killReason: true,
    exitCode: true,
    signal: true,
    oomKills: true,
    turns: true,
    completion: true,
    runtimeMs: true,
    wallClockMs: true,
    collected: true,
    manifestDigest: true,
    isolation: true,
  })
  .extend({
    /** Of what was collected; null where nothing was. */
    artifacts: z.object({ files: z.int(), bytes: z.int() }).nullable(),
    usage: z.object({
      toolCalls: z.int(),
      totalTokens: z.number().nullable(),
      costUsd: z.number().nullable(),
    }),
  });
export type ReportedResult = z.infer<typeof reportedResultSchema>;

/**
 * Termination message of the container `harness`: at most TERMINATION_MESSAGE_BYTES of JSON, replaced whole at
 * each step, so that also a harness that was killed tells how far it came.
 */
export const harnessReportSchema = z.object({
  v: z.literal(HARNESS_REPORT_VERSION),
  operatorVersion: z.string(),
  trial: z.string(),
  attempt: z.int().positive(),
  podUID: z.string(),
  step: z.enum(HARNESS_STEPS),
  /** Turn that runs or ended last; 0 before the first. */
  turn: z.int().min(0),
  /** When the shim connected; the clock `start` ends there. */
  connectedAt: z.string().nullable(),
  sigterm: z.boolean(),
  /** With step `done` only. */
  result: reportedResultSchema.nullable(),
  /** Why there is no result although the harness ended by itself, e.g. another attempt owns the folder. */
  fault: z.object({ reason: z.string(), message: z.string() }).nullable(),
});
export type HarnessReport = z.infer<typeof harnessReportSchema>;
