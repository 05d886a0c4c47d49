import { z } from 'zod';
import { controllerConfigSchema } from '../../src/api/controller-config.ts';

/** What the chart derives from other values or from where it is installed. */
const DERIVED = { operatorImage: true, defaultImagePullPolicy: true, workerRoleKind: true } as const;

/** Fields of the controller's configuration that are values of the chart, under the same names. */
export const CONFIG_VALUES: readonly string[] = Object.keys(controllerConfigSchema.omit(DERIVED).shape);

const text = (max = 512) => z.string().max(max);
const anyMap = z.record(z.string(), z.unknown());

const chartOnlyShape = {
  image: z
    .strictObject({
      repository: text().min(1).default('localhost/clawbench-operator').describe('Repository.'),
      tag: text(128).default('').describe("Tag; empty means the chart's appVersion."),
      digest: text(128)
        .default('')
        .describe('Digest (`sha256:...`); where it is given, the tag is not used.'),
      pullPolicy: z
        .enum(['Always', 'IfNotPresent', 'Never'])
        .default('IfNotPresent')
        .describe('Pull policy of the controller and of every pod that it makes.'),
    })
    .prefault({})
    .describe("The operator's image."),
  replicas: z
    .int()
    .min(0)
    .max(9)
    .default(2)
    .describe('Replicas of the controller; one leads, the others stand by.'),
  clusterResources: z
    .strictObject({
      create: z
        .boolean()
        .default(true)
        .describe(
          "False: CRDs, ClusterRoles and admission policies are somebody else's, and watchNamespaces is needed.",
        ),
    })
    .prefault({})
    .describe('Objects that belong to no namespace.'),
  serviceAccount: z
    .strictObject({ annotations: z.record(z.string(), z.string()).default({}).describe('Annotations.') })
    .prefault({})
    .describe("The controller's account."),
  podDisruptionBudget: z
    .strictObject({
      enabled: z.boolean().default(true).describe('Make one, where there is more than one replica.'),
    })
    .prefault({})
    .describe('Keeps one replica while nodes are drained.'),
  networkPolicy: z
    .strictObject({
      enabled: z.boolean().default(true).describe('Let nobody but metricsNamespaces call the controller.'),
    })
    .prefault({})
    .describe("The controller's NetworkPolicy."),
  resources: anyMap
    .default({ requests: { cpu: '100m', memory: '256Mi' }, limits: { memory: '1Gi' } })
    .describe('Resources of the controller.'),
  nodeSelector: z.record(z.string(), z.string()).default({}).describe('Nodes for the controller.'),
  tolerations: z.array(anyMap).default([]).describe('Tolerations of the controller.'),
  affinity: anyMap
    .default({})
    .describe('Affinity of the controller; empty means replicas on different nodes where possible.'),
  priorityClassName: text(253).default('').describe('PriorityClass of the controller.'),
  podLabels: z
    .record(z.string(), z.string())
    .default({})
    .describe("Further labels of the controller's pods."),
  podAnnotations: z
    .record(z.string(), z.string())
    .default({})
    .describe("Further annotations of the controller's pods."),
  releaseSeconds: z
    .int()
    .min(5)
    .max(3600)
    .default(120)
    .describe('Time that an uninstallation may take to release runs from their finalizers.'),
};

const { shape: configShape } = controllerConfigSchema.omit(DERIVED);

/** The chart's values: its own, and the controller's configuration. */
export const chartValuesSchema = z.strictObject({
  ...chartOnlyShape,
  ...configShape,
  runtimeImages: configShape.runtimeImages.prefault({ scripted: 'localhost/clawbench-scripted:dev' }),
  global: anyMap.optional().describe('Of charts that contain this one; not used.'),
});
