import { z } from 'zod';
import { PORTS } from './pod-contract.ts';

/** Where the chart mounts the configuration in the controller's container. */
export const CONTROLLER_CONFIG_PATH = '/etc/clawbench/config.json';

const image = z.string().min(1).max(512);
const namespace = z.string().min(1).max(63);
const port = z.int().min(1).max(65_535);
const seconds = (maximum: number) => z.number().positive().max(maximum);

/** A Kubernetes quantity of bytes or cores, e.g. `512Mi` or `0.5`. */
const quantity = z
  .string()
  .max(32)
  .regex(/^[0-9]+(\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti)?$/, {
    error: 'use a Kubernetes quantity such as 512Mi, 10Gi or 0.5',
  });
const requests = z.strictObject({ cpu: quantity, memory: quantity, 'ephemeral-storage': quantity });
/** No limit of processors by default: throttling would change what is measured. */
const limits = z.strictObject({ cpu: quantity.optional(), memory: quantity, 'ephemeral-storage': quantity });

/** An address range, e.g. `10.0.0.0/8` or `fd00::/8`. */
const cidr = z.union([z.cidrv4(), z.cidrv6()]);

const leaderElectionSchema = z
  .strictObject({
    leaseSeconds: seconds(3600)
      .default(10)
      .describe('Age of an unrenewed lease after which a standby replica takes over.'),
    renewSeconds: seconds(3600)
      .default(7)
      .describe('How long the leader tries to renew before it gives up and ends.'),
    retrySeconds: seconds(600).default(2).describe('Time between two attempts to take or renew the lease.'),
    namespace: namespace
      .optional()
      .describe('Namespace of the lease; absent means the namespace that the controller runs in.'),
  })
  .refine((times) => times.retrySeconds < times.renewSeconds && times.renewSeconds < times.leaseSeconds, {
    error: 'retrySeconds must be below renewSeconds, and renewSeconds below leaseSeconds',
  });

/**
 * /etc/clawbench/config.json: everything of the chart's values that the controller reads, in one file
 * (`clawbench controller --config FILE`). Every time is in seconds.
 */
export const controllerConfigSchema = z.strictObject({
  operatorImage: image.describe("The operator's image, for its own containers in the pods that it makes."),
  runtimeImages: z
    .record(z.string().min(1).max(64), image)
    .default({})
    .describe('Image of each runtime, by runtime id, for runs that name none.'),
  pythonImage: image
    .optional()
    .describe("Image of `score` containers of runs that name none; absent means the operator's image."),
  defaultImagePullPolicy: z
    .enum(['Always', 'IfNotPresent', 'Never'])
    .default('IfNotPresent')
    .describe('Pull policy of the containers of every pod that the controller makes.'),
  imagePullSecrets: z
    .array(z.string().min(1).max(253))
    .max(16)
    .default([])
    .describe("Names of Secrets in the runs' namespaces with which images are pulled."),
  watchNamespaces: z
    .array(namespace)
    .max(64)
    .default([])
    .describe('Namespaces whose runs are looked after; none means all.'),
  globalParallelism: z
    .int()
    .min(1)
    .max(100_000)
    .default(100)
    .describe('Most trial pods at once over all runs of the installation.'),
  failedPodsKept: z
    .int()
    .min(0)
    .max(1000)
    .default(20)
    .describe('Failed trial pods of a run that are kept for a look at them, the last ones.'),
  preflight: z
    .strictObject({
      enabled: z.boolean().default(true).describe('Probe the runtime image and the model before any trial.'),
      seconds: seconds(3600).default(120).describe('Time that a probe may take.'),
    })
    .prefault({}),
  breaker: z
    .strictObject({
      probeEverySeconds: seconds(86_400)
        .default(300)
        .describe('Time between the single attempts of a stalled run.'),
      failAfterSeconds: seconds(604_800).default(3600).describe('Time after which a stalled run fails.'),
    })
    .prefault({}),
  leaderElection: leaderElectionSchema.prefault({}),
  ports: z
    .strictObject({
      health: port.default(PORTS.health).describe('Port of /healthz and /readyz.'),
      metrics: port.default(PORTS.metrics).describe('Port of /metrics.'),
    })
    .prefault({}),
  metricsNamespaces: z
    .array(namespace)
    .max(64)
    .default([])
    .describe("Namespaces that may scrape the metrics of the controller and of the runs' gateways."),
  resyncSeconds: seconds(86_400)
    .default(300)
    .describe('Time after which every run is looked at again although nothing changed.'),
  queuedWriteSeconds: z
    .number()
    .min(0)
    .max(3600)
    .default(10)
    .describe('Phases Queued and Starting are written only when they last longer than this.'),
  defaultStorage: z
    .strictObject({
      size: quantity.default('10Gi').describe('Size of the claim of a run that brings none.'),
      storageClassName: z
        .string()
        .max(253)
        .optional()
        .describe("Its StorageClass; absent means the cluster's default."),
      accessModes: z
        .array(z.enum(['ReadWriteOnce', 'ReadWriteMany']))
        .min(1)
        .max(2)
        .default(['ReadWriteOnce'])
        .describe('Its access modes.'),
    })
    .prefault({}),
  defaultResources: z
    .strictObject({
      executor: z
        .strictObject({
          requests: requests.prefault({ cpu: '50m', memory: '128Mi', 'ephemeral-storage': '64Mi' }),
          // As on one machine (src/attempt/agent-limits.ts), where no chart speaks: results stay comparable.
          limits: limits.prefault({ memory: '2Gi', 'ephemeral-storage': '1Gi' }),
        })
        .prefault({}),
      harness: z
        .strictObject({
          requests: requests.prefault({ cpu: '20m', memory: '128Mi', 'ephemeral-storage': '64Mi' }),
          limits: limits.prefault({ memory: '512Mi', 'ephemeral-storage': '512Mi' }),
        })
        .prefault({}),
    })
    .prefault({})
    .describe('Resources of the containers of a trial, where the run names none of the executor.'),
  apiServerCIDRs: z
    .array(cidr)
    .max(64)
    .default([])
    .describe(
      'Addresses of the API server, as pods reach it: prepare and score pods may call nothing else. None means every private address.',
    ),
  clusterCIDRs: z
    .array(cidr)
    .max(64)
    .default([])
    .describe(
      'Ranges of pods, Services and nodes that are not private addresses: egress Internet leaves them out.',
    ),
  workerRoleKind: z
    .enum(['ClusterRole', 'Role'])
    .default('ClusterRole')
    .describe(
      'Kind of the role of prepare and score pods; Role where the chart is installed for one namespace.',
    ),
  gracePeriodSeconds: z
    .int()
    .min(1)
    .max(3600)
    .default(90)
    .describe('Grace period of trial pods: a cancelled attempt collects within it.'),
  finalizerSeconds: seconds(86_400)
    .default(300)
    .describe('Time after which a deleted run is let go although pods of it still end.'),
  logLevel: z
    .enum(['debug', 'info', 'warn', 'error'])
    .default('info')
    .describe('Least level that is logged.'),
});
export type ControllerConfig = z.infer<typeof controllerConfigSchema>;
