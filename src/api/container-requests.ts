import { z } from 'zod';
import { modelSpecSchema } from './benchmark-run.ts';
import { EXECUTION_STATUSES, FAILURE_CLASSES } from './vocabulary.ts';
import { publicScenarioSchema } from './suite-index.ts';
import { resolvedTimeoutsSchema } from './timeouts.ts';

/*
 * What each program in a pod is told, as JSON in the variable ENV.REQUEST. None of it is secret.
 */

/** `clawbench harness`. The frozen scenario is read from its mount; runtime is `spec.runtime`, defaults filled in. */
export const harnessRequestSchema = z.object({
  trial: z.string(),
  attempt: z.int().positive(),
  scenarioId: publicScenarioSchema.shape.id,
  runtime: z.record(z.string(), z.unknown()),
  modelId: z.string().nullable(),
  /** http://host:port of the run's gateway; null where the run has no model. */
  gatewayUrl: z.string().nullable(),
  timeouts: resolvedTimeoutsSchema,
  limits: z.object({
    memoryBytes: z.number().nullable(),
    pids: z.number().nullable(),
    diskBytes: z.number().nullable(),
  }),
  runtimeImage: z.string(),
});
export type HarnessRequest = z.infer<typeof harnessRequestSchema>;

/** `clawbench prepare freeze`: resolves, freezes, makes the folders of the trials, writes run.json and index files. */
export const freezeRequestSchema = z.object({
  runName: z.string(),
  runUID: z.string(),
  namespace: z.string(),
  createdAt: z.string(),
  /** BenchmarkRun spec as the API server has it. */
  spec: z.record(z.string(), z.unknown()),
  /** Absolute folder of the suite inside the container; null is the built-in one. */
  suitePath: z.string().nullable(),
  /** A tar archive at suitePath instead of a folder (source configMap). */
  archive: z.boolean(),
});
export type FreezeRequest = z.infer<typeof freezeRequestSchema>;

/** `clawbench prepare publish-index`. */
export const publishIndexRequestSchema = z.object({
  runName: z.string(),
  runUID: z.string(),
  namespace: z.string(),
});
export type PublishIndexRequest = z.infer<typeof publishIndexRequestSchema>;

/** `clawbench score-round score` and `clawbench score-round publish`; the list itself is round.json. */
export const roundRequestSchema = z.object({
  runName: z.string(),
  runUID: z.string(),
  namespace: z.string(),
  round: z.int().positive(),
  /** Folder of a repaired suite (spec.scoring.suite) inside the container; null for the frozen one. */
  suitePath: z.string().nullable(),
  /** A tar archive at suitePath instead of a folder (source configMap). */
  archive: z.boolean().default(false),
  /** The repaired suite is the built-in one of the image; suitePath is null then too. */
  builtinSuite: z.boolean().default(false),
  /** Seconds a trial's grading may take. */
  scoringSeconds: z.number(),
});
export type RoundRequest = z.infer<typeof roundRequestSchema>;

/** `clawbench gateway`: secret and key come in ENV.GATEWAY_SECRET and ENV.API_KEY. */
export const gatewayRequestSchema = z.object({
  runName: z.string(),
  runUID: z.string(),
  /** `spec.model` as the API server has it. */
  model: modelSpecSchema,
  /** Absolute folder of the gateway's journal inside the container. */
  journalDir: z.string(),
});
export type GatewayRequest = z.infer<typeof gatewayRequestSchema>;

/** ConfigMap `<run>-index-<k>`, key index.json: a part of the suite's index, without names and answers. */
export const indexPartSchema = z.object({
  part: z.int().min(0),
  parts: z.int().positive(),
  suiteDigest: z.string(),
  /** Scenarios of the suite's index in order; see SuiteIndexEntry. */
  scenarios: z.array(
    z.object({
      id: z.string(),
      dimension: z.string(),
      weight: z.number(),
      turn: z.number().nullable(),
      total: z.number().nullable(),
      digest: z.string(),
      surfaces: z.array(z.string()),
      supervised: z.boolean(),
    }),
  ),
});
export type IndexPart = z.infer<typeof indexPartSchema>;

/** ConfigMap `<run>-round-<r>`, key round.json: the trials of one score round. */
export const roundSchema = z.object({
  revision: z.int().positive(),
  /** The round after which every trial has ended: it also makes the report. */
  last: z.boolean(),
  trials: z.array(
    z.object({
      /** Name of the Trial. */
      trial: z.string(),
      scenarioId: z.string(),
      number: z.int().positive(),
      /** Attempt that stands for the trial. */
      attempt: z.int().positive(),
      /** manifestDigest that the harness reported; null where nothing was collected. */
      digest: z.string().nullable(),
      class: z.enum(FAILURE_CLASSES).nullable(),
      /** `execution` of the Trial: the formula needs it, and only the controller decides it. */
      execution: z.enum(EXECUTION_STATUSES),
    }),
  ),
});
export type Round = z.infer<typeof roundSchema>;
