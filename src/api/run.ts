import { z } from 'zod';
import { ISOLATIONS } from './vocabulary.ts';

/**
 * run.json: what was declared and what is known of the run when it starts. It is written once; a run that is
 * resumed or rerun must agree with it.
 */
export const runRecordSchema = z.object({
  schema_version: z.literal(1),
  name: z.string(),
  uid: z.string(),
  createdAt: z.string(),
  /** The frozen spec, defaults filled in, as BenchmarkRun has it. */
  spec: z.record(z.string(), z.unknown()),
  suiteDigest: z.string(),
  /** Trials that the run declares: scenarios x trialsPerScenario. */
  declaredTrials: z.int(),
  /** Facts for provenance that only the machine of the run can know; `unavailable` where it cannot. */
  facts: z.object({
    operatorVersion: z.string(),
    runtimeId: z.string(),
    runtimeVersion: z.string(),
    adapterVersion: z.string(),
    runtimeImageDigest: z.string(),
    isolation: z.enum(ISOLATIONS),
    cleanupPolicy: z.string(),
    cpuLimit: z.string(),
    memoryLimit: z.string(),
    egress: z.string(),
    /** Which harness runtime selection chose, and why. */
    runtimeSelection: z.string(),
    modelRoute: z.string(),
    timeoutsOverridden: z.boolean(),
    host: z.string(),
    /** Folder that the suite was read from: it holds answers, so it is hidden from agents whenever the run goes on. */
    suiteRoot: z.string().optional(),
    /** OpenClaw surfaces that the runtime's adapter offers. */
    surfacesOffered: z.array(z.string()).optional(),
    /** Digest of the tool schemas that the agent was given. */
    toolSchemasSha256: z.string().optional(),
    /** Digest of the text put around a task's prompt; absent where prompts are sent as they are. */
    promptWrapperSha256: z.string().optional(),
    /** Approval or policy layer between agent and tools. */
    safetyLayer: z.string().optional(),
  }),
  /** Revisions of `rerun` that were asked for, oldest first. */
  reruns: z
    .array(
      z.object({
        revision: z.int(),
        at: z.string(),
        classes: z.array(z.string()),
        scenarioIds: z.array(z.string()),
      }),
    )
    .default([]),
});
export type RunRecord = z.infer<typeof runRecordSchema>;
