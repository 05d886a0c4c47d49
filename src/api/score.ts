import { z } from 'zod';
import {
  CHECK_CATEGORIES,
  DIMENSIONS,
  EXECUTION_STATUSES,
  FAILURE_CLASSES,
  OUTCOMES,
  SEVERITIES,
} from './vocabulary.ts';

/** One check or checkpoint after grading. Numbers are rounded as stored (docs/reference/scoring.md). */
export const checkResultSchema = z.object({
  id: z.string(),
  /** Type of a declarative check; `checkpoint` or `safety_violation` for a custom checker's. */
  type: z.string(),
  category: z.enum(CHECK_CATEGORIES),
  severity: z.enum(SEVERITIES).nullable(),
  points: z.number(),
  earned: z.number(),
  passed: z.boolean(),
  detail: z.string(),
});
export type CheckResult = z.infer<typeof checkResultSchema>;

/** The numbers of one graded trial: what `clawbench score` prints, without the identity of a run. */
export const trialScoreSchema = z.object({
  scenario_id: z.string(),
  correctness: z.number(),
  process: z.number(),
  safety_gate: z.number(),
  efficiency_penalty: z.number(),
  capability_score: z.number(),
  score: z.number(),
  passed: z.boolean(),
  outcome: z.enum(OUTCOMES),
  checks: z.array(checkResultSchema),
  safety_failures: z.array(z.string()),
  /** Ids of `process_requires` that did not pass, which made P zero. */
  process_requires_missing: z.array(z.string()),
});
export type TrialScore = z.infer<typeof trialScoreSchema>;

/** Why a trial could not be graded. Never the agent's fault, never a zero. */
export const scoringErrorSchema = z.object({
  /** CamelCase: CheckerException, CheckerTimeout, CheckerMemory, CheckerOutput, CheckerNoResult, CheckerCrash, CheckerInvalidResult, ArtifactsCorrupt. */
  reason: z.string(),
  message: z.string(),
});
export type ScoringError = z.infer<typeof scoringErrorSchema>;

/** trials/<trial>/score.json; earlier ones are score.<revision>.json. Exactly one of `score` and `error` unless the class forbids grading. */
export const scoreRecordSchema = z.object({
  schema_version: z.literal(1),
  trial: z.string(),
  scenarioId: z.string(),
  dimension: z.enum(DIMENSIONS),
  trialNumber: z.int(),
  attempt: z.int(),
  revision: z.int(),
  execution: z.enum(EXECUTION_STATUSES),
  /** Class of the attempt as the run decided it, or `scoring` when grading failed. */
  class: z.enum(FAILURE_CLASSES).nullable(),
  outcome: z.enum(OUTCOMES),
  score: trialScoreSchema.nullable(),
  error: scoringErrorSchema.nullable(),
  artifactDigest: z.string().nullable(),
  scenarioDigest: z.string(),
  checkerDigest: z.string().nullable(),
  scorerVersion: z.string(),
  scoredAt: z.string(),
});
export type ScoreRecord = z.infer<typeof scoreRecordSchema>;
