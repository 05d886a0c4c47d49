import { z } from 'zod';
import { timeoutsSpecSchema } from './timeouts.ts';
import {
  BEHAVIOURS,
  DIFFICULTIES,
  DIMENSIONS,
  EXPOSURES,
  MODEL_APIS,
  PROFILES,
  RERUNNABLE_CLASSES,
  SIGNAL_SOURCES,
  SUITE_FORMATS,
} from './vocabulary.ts';

/** `apiVersion` of every resource of the project. */
export const API_VERSION = 'clawbench.dev/v1alpha1';

const name = z.string().min(1).max(253);
const id = z.string().min(1).max(128);
const ids = z.array(id).max(2000);
const words = z.array(z.string().min(1).max(128)).max(64);
const relativePath = z.string().min(1).max(1024);
const stringMap = z.record(z.string().max(317), z.string().max(4096));
const anyMap = z.record(z.string().max(256), z.unknown());
const claim = z.strictObject({ claimName: name });
const secretKeyRef = z.strictObject({ name, key: name });
const resources = z.strictObject({ requests: stringMap.optional(), limits: stringMap.optional() });

/** Everything that chooses scenarios from a suite. */
export const suiteSelectorShape = {
  profile: z.enum(PROFILES).default('full'),
  status: z.enum(['active', 'incubating', 'all']).default('active'),
  dimensions: z.array(z.enum(DIMENSIONS)).max(DIMENSIONS.length).default([]),
  difficulties: z.array(z.enum(DIFFICULTIES)).max(DIFFICULTIES.length).default([]),
  signalSources: z.array(z.enum(SIGNAL_SOURCES)).max(SIGNAL_SOURCES.length).default([]),
  surfaces: words.default([]),
  tags: words.default([]),
  groups: words.default([]),
  /** An explicit id bypasses profile and status. */
  scenarioIds: ids.default([]),
  exclude: ids.default([]),
};
export const suiteSelectorSchema = z.strictObject(suiteSelectorShape);
export type SuiteSelector = z.infer<typeof suiteSelectorSchema>;

export const suiteSourceShape = {
  builtin: z.strictObject({}).optional(),
  persistentVolumeClaim: z.strictObject({ claimName: name, path: relativePath.optional() }).optional(),
  configMap: z.strictObject({ name }).optional(),
  image: z
    .strictObject({
      reference: z.string().min(1).max(512),
      path: relativePath.optional(),
      pullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']).optional(),
    })
    .optional(),
};
export const SUITE_SOURCES = ['builtin', 'persistentVolumeClaim', 'configMap', 'image'] as const;

export const suiteSpecSchema = z
  .strictObject({ ...suiteSourceShape, format: z.enum(SUITE_FORMATS).default('auto'), ...suiteSelectorShape })
  .refine((suite) => SUITE_SOURCES.filter((source) => suite[source] !== undefined).length === 1, {
    error: `exactly one of ${SUITE_SOURCES.join(', ')} is needed`,
  });

const podTemplate = z.strictObject({
  nodeSelector: stringMap.optional(),
  tolerations: z.array(anyMap).max(32).optional(),
  affinity: anyMap.optional(),
  runtimeClassName: name.optional(),
  securityContext: anyMap.optional(),
  labels: stringMap
    .refine((labels) => !Object.keys(labels).some((key) => key.startsWith('clawbench.dev/')), {
      error: 'labels under clawbench.dev/ belong to the operator; choose another prefix',
    })
    .optional(),
  annotations: stringMap.optional(),
});

export const runtimeSpecSchema = z.strictObject({
  /** A runtime id or an alias of one (docs/reference/runtimes.md). */
  id: z.string().min(1).max(64),
  image: z.string().min(1).max(512).optional(),
  injectNode: z.boolean().default(false),
  /** Merged over the adapter's own configuration. */
  config: anyMap.default({}),
  agentId: id.optional(),
  env: stringMap.default({}),
  skills: words.default([]),
  /** Scripted runtime only. */
  behaviour: z.enum(BEHAVIOURS).optional(),
  /** Scripted runtime only: behaviour of single scenarios. */
  behaviours: z.record(id, z.enum(BEHAVIOURS)).default({}),
  resources: resources.optional(),
  podTemplate: podTemplate.optional(),
});
export type RuntimeSpec = z.infer<typeof runtimeSpecSchema>;

const count = z.int().positive().max(1_000_000_000_000);

export const modelSpecSchema = z.strictObject({
  id: z.string().min(1).max(256),
  api: z.enum(MODEL_APIS),
  baseURL: z
    .url({ protocol: /^https?$/ })
    .max(2048)
    .optional(),
  apiKeySecretRef: secretKeyRef.optional(),
  parameters: anyMap.default({}),
  limits: z
    .strictObject({
      concurrency: count.optional(),
      requestsPerMinute: count.optional(),
      tokensPerMinute: count.optional(),
    })
    .default({}),
  pricing: z
    .strictObject({
      inputPerMillion: z.number().nonnegative().optional(),
      outputPerMillion: z.number().nonnegative().optional(),
      cacheReadPerMillion: z.number().nonnegative().optional(),
      cacheWritePerMillion: z.number().nonnegative().optional(),
    })
    .optional(),
  budget: z.strictObject({ usd: z.number().positive().optional(), tokens: count.optional() }).optional(),
  attemptLimits: z
    .strictObject({
      usd: z.number().positive().optional(),
      tokens: count.optional(),
      modelCalls: count.optional(),
      toolCalls: count.optional(),
    })
    .optional(),
  cassette: z
    .strictObject({ mode: z.enum(['off', 'record', 'replay']).default('off'), claim: name.optional() })
    .optional(),
});
export type ModelSpec = z.infer<typeof modelSpecSchema>;

export const retrySpecSchema = z.strictObject({
  infrastructure: z.int().min(0).max(20).default(2),
  provider: z.int().min(0).max(20).default(2),
  disruption: z.int().min(0).max(100).default(10),
  /** First delay; it doubles, with jitter, up to 300 s. */
  backoffSeconds: z.number().min(0).max(300).default(10),
});
export type RetrySpec = z.infer<typeof retrySpecSchema>;

const ttlSeconds = z.int().min(0).max(31_536_000);

export const benchmarkRunSpecSchema = z
  .strictObject({
    suite: suiteSpecSchema,
    trialsPerScenario: z.int().min(1).max(100).default(3),
    parallelism: z.int().min(1).max(1000).default(4),
    suspend: z.boolean().default(false),
    cancel: z.boolean().default(false),
    queueName: name.optional(),
    runtime: runtimeSpecSchema,
    model: modelSpecSchema.optional(),
    supervision: z
      .strictObject({
        enabled: z.boolean().default(false),
        supervisor: modelSpecSchema.optional(),
        userSimulator: modelSpecSchema.optional(),
        maxFollowups: z.int().min(0).max(20).default(2),
      })
      .prefault({}),
    timeouts: timeoutsSpecSchema.prefault({}),
    retry: retrySpecSchema.prefault({}),
    artifacts: z
      .strictObject({
        persistentVolumeClaim: claim.optional(),
        volumeClaimTemplate: anyMap.optional(),
        retain: z.boolean().default(true),
      })
      .refine((a) => a.persistentVolumeClaim === undefined || a.volumeClaimTemplate === undefined, {
        error: 'give persistentVolumeClaim or volumeClaimTemplate, not both',
      })
      .prefault({}),
    scoring: z
      .strictObject({
        resources: resources.optional(),
        batchSize: z.int().min(1).max(2000).default(500),
        /** Raise it to score the run again. */
        revision: z.int().min(1).default(1),
        suite: suiteSpecSchema.optional(),
        pythonImage: z.string().min(1).max(512).optional(),
      })
      .prefault({}),
    network: z
      .strictObject({
        egress: z
          .union([z.enum(['ModelOnly', 'Internet']), z.strictObject({ rules: z.array(anyMap).max(64) })])
          .default('ModelOnly'),
      })
      .prefault({}),
    exposure: z.enum(EXPOSURES).default('zero-shot'),
    ttlSecondsAfterFinished: z
      .strictObject({ succeeded: ttlSeconds.optional(), failed: ttlSeconds.optional() })
      .optional(),
    rerun: z
      .strictObject({
        revision: z.int().min(1),
        classes: z.array(z.enum(RERUNNABLE_CLASSES)).min(1).max(RERUNNABLE_CLASSES.length),
        scenarioIds: ids.default([]),
      })
      .optional(),
  })
  .superRefine((spec, context) => {
    const scripted = spec.runtime.id === 'scripted';
    if (!scripted && spec.model === undefined) {
      context.addIssue({
        code: 'custom',
        path: ['model'],
        message: `runtime ${spec.runtime.id} needs a model; add spec.model with id and api`,
      });
    }
    if (
      !scripted &&
      (spec.runtime.behaviour !== undefined || Object.keys(spec.runtime.behaviours).length > 0)
    ) {
      context.addIssue({
        code: 'custom',
        path: ['runtime', 'behaviour'],
        message: 'behaviours belong to the scripted runtime; remove them or set runtime.id to scripted',
      });
    }
    if (spec.model !== undefined && spec.model.api !== 'scripted' && spec.model.baseURL === undefined) {
      context.addIssue({
        code: 'custom',
        path: ['model', 'baseURL'],
        message: `api ${spec.model.api} needs the provider's address; add model.baseURL`,
      });
    }
  });
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
