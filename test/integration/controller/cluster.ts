import { setTimeout as delay } from 'node:timers/promises';
import { controllerConfigSchema, type ControllerConfig } from '../../../src/api/controller-config.ts';
import type { TrialObject } from '../../../src/controller/cache.ts';
import type { Log } from '../../../src/controller/deps.ts';
import { runController } from '../../../src/controller/main/run-controller.ts';
import type { RunResource } from '../../../src/controller/run-view.ts';
import { RUN_OBJECTS } from '../../../src/controller/run/apply.ts';
import { TRIAL_OBJECTS } from '../../../src/controller/trial/reconciler.ts';
import { KubeClient } from '../../../src/kube/client.ts';
import { type ClusterAccess, loadClusterAccess } from '../../../src/kube/config.ts';
import { NAMESPACES, STORAGE_CLASSES } from '../../../src/kube/resource.ts';
import { startApiServer, type TestApiServer } from '../../support/api-server.ts';
import { applyCrds } from '../../support/crds.ts';
import { FakeNode, type Fate } from '../../support/fake-node.ts';
import { RawApi } from '../../support/raw-api.ts';

/** A real API server with the project's CRDs, and namespaces in which a fake node moves pods. */
export interface TestCluster {
  readonly client: KubeClient;
  readonly access: ClusterAccess;
  readonly server: TestApiServer;
  readonly stop: () => Promise<void>;
}

export async function startCluster(): Promise<TestCluster> {
  const server = await startApiServer();
  const raw = new RawApi(server);
  await applyCrds(raw);
  await raw.close();
  const access = await loadClusterAccess({ kubeconfig: server.kubeconfigPath });
  const client = new KubeClient(access, { fieldManager: 'test' });
  await client.create(STORAGE_CLASSES, {
    metadata: {
      name: 'standard',
      annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
    },
    provisioner: 'example.test/none',
  });
  return {
    client,
    access,
    server,
    stop: async () => {
      await client.close();
      await server.stop();
    },
  };
}

export const SILENT: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined };

export function configFor(namespace: string, over: Partial<ControllerConfig> = {}): ControllerConfig {
  return {
    ...controllerConfigSchema.parse({
      operatorImage: 'example.test/operator:dev',
      runtimeImages: { scripted: 'example.test/scripted:dev' },
      watchNamespaces: [namespace],
      leaderElection: { leaseSeconds: 15, renewSeconds: 10, retrySeconds: 0.2 },
      resyncSeconds: 20,
      gracePeriodSeconds: 2,
      finalizerSeconds: 30,
    }),
    ...over,
  };
}

export interface StartedController {
  readonly stop: () => Promise<void>;
  /** Writes that reconcilers began. */
  readonly writes: () => number;
  /** Resolves when the controller reached its last allowed write. */
  readonly exhausted: Promise<void>;
}

export class OutOfWrites extends Error {}

/** Starts a controller that may make so many writes and then, as if it had died, none. */
export function startController(
  cluster: TestCluster,
  config: ControllerConfig,
  { writes = Infinity, log = SILENT }: { readonly writes?: number; readonly log?: Log } = {},
): StartedController {
  const stopping = new AbortController();
  const exhausted = Promise.withResolvers<undefined>();
  let made = 0;
  const ended = runController(
    {
      config,
      access: cluster.access,
      namespace: config.watchNamespaces[0] ?? 'default',
      name: 'controller',
      log,
      healthPort: 0,
      beforeWrite: () => {
        made += 1;
        if (made <= writes) return;
        exhausted.resolve(undefined);
        stopping.abort();
        throw new OutOfWrites(`no write beyond the ${writes}th`);
      },
    },
    stopping.signal,
  );
  return {
    stop: async () => {
      stopping.abort();
      await ended;
    },
    writes: () => Math.min(made, writes),
    exhausted: exhausted.promise,
  };
}

export async function makeNamespace(cluster: TestCluster, name: string): Promise<void> {
  await cluster.client.create(NAMESPACES, { metadata: { name } });
}

export function runSpec(over: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    suite: { builtin: {} },
    trialsPerScenario: 1,
    parallelism: 2,
    runtime: { id: 'scripted' },
    retry: { backoffSeconds: 0 },
    ...over,
  };
}

export async function createRun(
  cluster: TestCluster,
  namespace: string,
  name: string,
  spec: Readonly<Record<string, unknown>>,
): Promise<RunResource> {
  return cluster.client.create<RunResource>(RUN_OBJECTS, { metadata: { name, namespace }, spec });
}

export function fakeNode(
  cluster: TestCluster,
  namespace: string,
  scenarios: readonly string[],
  fate?: Fate,
): FakeNode {
  const node = new FakeNode({
    client: cluster.client,
    namespace,
    scenarios,
    ...(fate === undefined ? {} : { fate }),
  });
  node.start();
  return node;
}

export async function trialsOf(cluster: TestCluster, namespace: string): Promise<readonly TrialObject[]> {
  return (await cluster.client.list(TRIAL_OBJECTS, { namespace })).items;
}

/** Waits until a run is as wanted; fails with its status when it does not come to be. */
export async function waitForRun(
  cluster: TestCluster,
  namespace: string,
  name: string,
  wanted: (run: RunResource) => boolean,
  timeoutMs = 40_000,
): Promise<RunResource> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const run = await cluster.client.get(RUN_OBJECTS, { namespace, name });
    if (wanted(run)) return run;
    if (performance.now() > deadline) {
      const trials = await trialsOf(cluster, namespace);
      throw new Error(
        `run ${name} did not come to it: ${JSON.stringify(run.status)} ${JSON.stringify(trials.map((t) => t.status))}`,
      );
    }
    await delay(50);
  }
}

export function isTrue(run: RunResource, type: string): boolean {
  return (
    run.status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ===
    true
  );
}
