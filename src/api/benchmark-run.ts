import { z } from 'zod';
import { artifactsSpecSchema } from './artifacts-spec.ts';
import { changeRules } from './frozen-rules.ts';
import { modelSpecSchema } from './model-spec.ts';
import { networkSpecSchema } from './network-spec.ts';
import { withRules } from './rules.ts';
import { runtimeSpecSchema } from './runtime-spec.ts';
import { ids, image, name, resources, stringMap } from './schema-parts.ts';
import { suiteSpecSchema } from './suite-spec.ts';
import { timeoutsSpecSchema } from './timeouts.ts';
import { EXPOSURES, RERUNNABLE_CLASSES } from './vocabulary.ts';

// The parts of the spec have modules of their own; whoever reads a run finds them here.
export { modelSpecSchema, type ModelSpec } from './model-spec.ts';
export { runtimeSpecSchema, type RuntimeSpec } from './runtime-spec.ts';
export {
  SUITE_SOURCES,
  suiteSelectorSchema,
  suiteSelectorShape,
  suiteSourceShape,
  suiteSpecSchema,
  type SuiteSelector,
} from './suite-spec.ts';

/** Group and version of every resource of the project. */
export const API_GROUP = 'clawbench.dev';
export const API_VERSION_NAME = 'v1alpha1';
/** `apiVersion` of every resource of the project. */
export const API_VERSION = `${API_GROUP}/${API_VERSION_NAME}` as const;

export const retrySpecSchema = z.strictObject({
  infrastructure: z
    .int()
    .min(0)
    .max(20)
    .default(2)
    .describe('Further attempts after infrastructure failures.'),
  provider: z.int().min(0).max(20).default(2).describe('Further attempts after failures of the provider.'),
  disruption: z
    .int()
    .min(0)
    .max(100)
    .default(10)
    .describe('Further attempts after disruptions: drained nodes, preemption.'),
  backoffSeconds: z
    .number()
    .min(0)
    .max(300)
    .default(10)
    .describe('Delay before the first of them; it doubles, with jitter, up to 300 s.'),
});
export type RetrySpec = z.infer<typeof retrySpecSchema>;

const ttlSeconds = z.int().min(0).max(31_536_000);

const supervisionSchema = z.strictObject({
  enabled: z.boolean().default(false).describe('Supervise tasks that ask for it.'),
  supervisor: modelSpecSchema.optional().describe('Model that judges whether a turn is enough.'),
  userSimulator: modelSpecSchema.optional().describe("Model that answers in the user's place."),
  maxFollowups: z
    .int()
    .min(0)
    .max(20)
    .default(2)
    .describe('Most further turns that supervision may ask for.'),
});

const scoringSchema = z.strictObject({
  resources: resources.optional().describe('Resources of the container that grades.'),
  batchSize: z.int().min(1).max(2000).default(500).describe('Most trials of one score round.'),
  revision: z.int().min(1).max(1_000_000).default(1).describe('Raise it to score the run again.'),
  suite: suiteSpecSchema
    .optional()
    .describe('Grade with the checks of this suite, e.g. a repaired one; both digests are kept.'),
  pythonImage: image
    .optional()
    .describe("Image that runs Python checkers; absent means the chart's, else the operator's."),
});

const rerunSchema = z.strictObject({
  revision: z.int().min(1).max(1_000_000).describe('Raise it to ask again.'),
  classes: z
    .array(z.enum(RERUNNABLE_CLASSES))
    .min(1)
    .max(RERUNNABLE_CLASSES.length)
    .describe('Failure classes whose trials get a new base attempt; `agent` never does.'),
  scenarioIds: ids.default([]).describe('Trials of these scenarios only; none means all.'),
});

const specObject = z.strictObject({
  suite: suiteSpecSchema.describe('What is run: one source, and what is selected from it.'),
  trialsPerScenario: z.int().min(1).max(100).default(3).describe('Trials of each scenario.'),
  parallelism: z.int().min(1).max(1000).default(4).describe('Attempts at once.'),
  suspend: z.boolean().default(false).describe('Start nothing new; what runs ends in order.'),
  cancel: z
    .boolean()
    .default(false)
    .describe('End the run: what runs is killed and collected, the rest never starts.'),
  queueName: name.optional().describe('Kueue queue: the label that its pods carry.'),
  runtime: runtimeSpecSchema.describe('The agent under test.'),
  model: modelSpecSchema.optional().describe('The model that the agent uses; needed unless scripted.'),
  supervision: supervisionSchema.prefault({}).describe('Supervision of tasks that ask for it.'),
  timeouts: timeoutsSpecSchema.prefault({}).describe('Clocks of an attempt, in seconds.'),
  retry: retrySpecSchema.prefault({}).describe("Further attempts after failures that are not the agent's."),
  artifacts: artifactsSpecSchema
    .prefault({})
    .describe("Where attempts are kept; empty means a claim of the run's own as the chart sizes it."),
  scoring: scoringSchema.prefault({}).describe('Grading.'),
  network: networkSpecSchema.prefault({}).describe('What trial pods may reach.'),
  exposure: z
    .enum(EXPOSURES)
    .default('zero-shot')
    .describe('What the agent and its configuration knew of the suite; part of provenance.'),
  ttlSecondsAfterFinished: z
    .strictObject({
      succeeded: ttlSeconds.optional().describe('Seconds after Complete.'),
      failed: ttlSeconds.optional().describe('Seconds after Failed.'),
    })
    .optional()
    .describe('When an ended run is deleted; absent means never.'),
  rerun: rerunSchema.optional().describe('Run ended failures again.'),
});

export const benchmarkRunSpecSchema = withRules(specObject, [
  {
    message: 'model is missing; add model with id and api, or set runtime.id to scripted',
    cel: "self.runtime.id == 'scripted' || has(self.model)",
    field: ['model'],
    holds: (spec) => spec.runtime.id === 'scripted' || spec.model !== undefined,
  },
  {
    message: 'behaviour belongs to the scripted runtime; remove it or set runtime.id to scripted',
    cel: "self.runtime.id == 'scripted' || !has(self.runtime.behaviour)",
    field: ['runtime', 'behaviour'],
    holds: ({ runtime }) => runtime.id === 'scripted' || runtime.behaviour === undefined,
  },
  {
    message: 'behaviours belong to the scripted runtime; remove them or set runtime.id to scripted',
    cel: "self.runtime.id == 'scripted' || !has(self.runtime.behaviours) || self.runtime.behaviours.size() == 0",
    field: ['runtime', 'behaviours'],
    holds: ({ runtime }) => runtime.id === 'scripted' || Object.keys(runtime.behaviours).length === 0,
  },
  ...changeRules,
]);
export type BenchmarkRunSpec = z.infer<typeof benchmarkRunSpecSchema>;

/** RFC 1123 subdomain, as Kubernetes wants metadata.name. */
const objectName = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, {
    error: 'use lower-case letters, digits, "-" and ".", beginning and ending with a letter or digit',
  });

export const benchmarkRunSchema = z.strictObject({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('BenchmarkRun'),
  metadata: z.looseObject({
    name: objectName,
    namespace: name.optional(),
    labels: stringMap.optional(),
    annotations: stringMap.optional(),
  }),
  spec: benchmarkRunSpecSchema,
});
export type BenchmarkRun = z.infer<typeof benchmarkRunSchema>;
