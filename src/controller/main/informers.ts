import { LABELS } from '../../api/names.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { ConfigMap, Deployment, Job, KubeObject, Pod } from '../../kube/object.ts';
import { Reflector, type ChangeHandler } from '../../kube/reflector.ts';
import { CONFIG_MAPS, DEPLOYMENTS, JOBS, PODS, type Resource } from '../../kube/resource.ts';
import type { Indexers, StoreReader } from '../../kube/store.ts';
import { byRun, podIndexers, type ByRun, type Cache, type PodIndex, type TrialObject } from '../cache.ts';
import type { RunResource } from '../run-view.ts';
import { RUN_OBJECTS } from '../run/apply.ts';
import { TRIAL_OBJECTS } from '../trial/reconciler.ts';
import { UnionStore } from './union-store.ts';

/** Every reflector of the controller: one a resource, or one a resource and namespace. */
export interface Informers {
  readonly cache: Cache;
  readonly onRun: (handler: ChangeHandler<RunResource>) => void;
  readonly onTrial: (handler: ChangeHandler<TrialObject>) => void;
  readonly onPod: (handler: ChangeHandler<Pod>) => void;
  /** Jobs, ConfigMaps and Deployments of runs. */
  readonly onChild: (handler: ChangeHandler<KubeObject>) => void;
  readonly synced: Promise<unknown>;
  readonly hasSynced: () => boolean;
  /** Works until the signal aborts. */
  readonly run: (signal: AbortSignal) => Promise<unknown>;
}

/** Only what a run owns is cached; the label is on everything that the operator makes. */
const OF_RUNS = { labelSelector: LABELS.RUN };

export interface InformerOptions {
  readonly client: KubeClient;
  /** None means all. */
  readonly namespaces: readonly string[];
  readonly onError: (resource: string, error: unknown) => void;
}

export function createInformers({ client, namespaces, onError }: InformerOptions): Informers {
  const scopes = namespaces.length === 0 ? [undefined] : namespaces;
  const reflect = <T extends KubeObject, Index extends string>(
    resource: Resource<T>,
    indexers: Indexers<T, Index>,
    selection: { readonly labelSelector?: string } = {},
  ) =>
    scopes.map(
      (namespace) =>
        new Reflector<T, Index>({
          client,
          resource,
          indexers,
          selection: { ...selection, namespace },
          onError: (error) => onError(resource.plural, error),
        }),
    );
  const runs = reflect<RunResource, never>(RUN_OBJECTS, {});
  const trials = reflect<TrialObject, ByRun>(TRIAL_OBJECTS, byRun);
  const pods = reflect<Pod, PodIndex>(PODS, podIndexers, OF_RUNS);
  const jobs = reflect<Job, ByRun>(JOBS, byRun, OF_RUNS);
  const configMaps = reflect<ConfigMap, ByRun>(CONFIG_MAPS, byRun, OF_RUNS);
  const deployments = reflect<Deployment, ByRun>(DEPLOYMENTS, byRun, OF_RUNS);
  const all = [...runs, ...trials, ...pods, ...jobs, ...configMaps, ...deployments];
  return {
    cache: {
      runs: union(runs),
      trials: union(trials),
      pods: union(pods),
      jobs: union(jobs),
      configMaps: union(configMaps),
      deployments: union(deployments),
    },
    onRun: (handler) => runs.forEach((reflector) => reflector.addHandler(handler)),
    onTrial: (handler) => trials.forEach((reflector) => reflector.addHandler(handler)),
    onPod: (handler) => pods.forEach((reflector) => reflector.addHandler(handler)),
    onChild: (handler) => {
      for (const reflector of jobs) reflector.addHandler(handler);
      for (const reflector of configMaps) reflector.addHandler(handler);
      for (const reflector of deployments) reflector.addHandler(handler);
    },
    synced: Promise.all(all.map(({ synced }) => synced)),
    hasSynced: () => all.every(({ hasSynced }) => hasSynced),
    run: (signal) => Promise.all(all.map((reflector) => reflector.run(signal))),
  };
}

function union<T extends KubeObject, Index extends string>(
  reflectors: readonly { readonly store: StoreReader<T, Index> }[],
): StoreReader<T, Index> {
  const [only, ...more] = reflectors.map(({ store }) => store);
  return only !== undefined && more.length === 0
    ? only
    : new UnionStore(reflectors.map(({ store }) => store));
}
