import { LABELS, runLabel } from '../api/names.ts';
import type { TrialResource } from '../api/trial-resource.ts';
import { trialStatusSchema, type TrialStatus } from '../api/trial-resource.ts';
import {
  controllerOf,
  type ConfigMap,
  type Deployment,
  type Job,
  type KubeObject,
  type Pod,
} from '../kube/object.ts';
import type { Indexers, StoreReader } from '../kube/store.ts';
import { isReadable, viewRun, type RunResource, type RunView, type UnreadableRun } from './run-view.ts';
import { podFacts, type PodFacts } from './trial/pod-facts.ts';

/** A Trial as the API server holds it, with the metadata every object has. */
export type TrialObject = TrialResource & KubeObject;

/** Children are found by their run's UID, so that what belonged to an earlier run of the same name is not seen. */
export type ByRun = 'run';
/** Pods also by their Trial (`namespace/name`) and by their Job's UID. */
export type PodIndex = 'run' | 'trial' | 'job';

/** What reconcilers read: caches of the API server, never changed by anybody but their reflectors. */
export interface Cache {
  readonly runs: StoreReader<RunResource>;
  readonly trials: StoreReader<TrialObject, ByRun>;
  readonly pods: StoreReader<Pod, PodIndex>;
  readonly jobs: StoreReader<Job, ByRun>;
  readonly configMaps: StoreReader<ConfigMap, ByRun>;
  readonly deployments: StoreReader<Deployment, ByRun>;
}

export const byRun: Indexers<KubeObject, ByRun> = { run: runUidOf };

export const podIndexers: Indexers<Pod, PodIndex> = {
  run: ({ metadata }) => {
    const label = metadata.labels?.[LABELS.RUN];
    return label === undefined ? [] : [`${metadata.namespace ?? ''}/${label}`];
  },
  trial: ({ metadata }) => {
    const trial = metadata.labels?.[LABELS.TRIAL];
    return trial === undefined ? [] : [`${metadata.namespace ?? ''}/${trial}`];
  },
  job: (pod) => {
    const owner = controllerOf(pod);
    return owner?.kind === 'Job' ? [owner.uid] : [];
  },
};

function runUidOf(object: KubeObject): string[] {
  const owner = controllerOf(object);
  return owner?.kind === 'BenchmarkRun' ? [owner.uid] : [];
}

/** Value of the pods' index `run`. Pods of a run's Jobs are owned by those, so the label finds them. */
export function podsOfRun(cache: Pick<Cache, 'pods'>, run: Pick<RunView, 'namespace' | 'name'>): Pod[] {
  return cache.pods.byIndex('run', `${run.namespace}/${runLabel(run.name)}`);
}

/** Pods of one Trial that its run (this very UID) owns. */
export function podsOfTrial(cache: Pick<Cache, 'pods'>, trial: TrialObject): PodFacts[] {
  const owner = controllerOf(trial)?.uid;
  return cache.pods
    .byIndex('trial', `${trial.metadata.namespace}/${trial.metadata.name}`)
    .filter((pod) => controllerOf(pod)?.uid === owner)
    .map(factsOf);
}

/** The run that controls a Trial, as far as the cache has it. */
export function runOfTrial(cache: Pick<Cache, 'runs'>, trial: TrialObject): RunView | undefined {
  const owner = controllerOf(trial);
  const object = owner === undefined ? undefined : cache.runs.getByUid(owner.uid);
  const view = object === undefined ? undefined : readRun(object);
  return view !== undefined && isReadable(view) ? view : undefined;
}

/*
 * Cached objects are never changed, only replaced, so what is read out of one is kept with it: a pass over thousands of
 * Trials must not validate them all again.
 */
const runViews = new WeakMap<RunResource, RunView | UnreadableRun>();
const trialStatuses = new WeakMap<TrialObject, TrialStatus>();
const factsOfPods = new WeakMap<Pod, PodFacts>();

export function readRun(object: RunResource): RunView | UnreadableRun {
  return remembered(runViews, object, viewRun);
}

/** @throws ZodError for a status that the API server should have refused */
export function statusOf(trial: TrialObject): TrialStatus {
  return remembered(trialStatuses, trial, ({ status }) => trialStatusSchema.parse(status ?? {}));
}

export function factsOf(pod: Pod): PodFacts {
  return remembered(factsOfPods, pod, podFacts);
}

function remembered<K extends object, V>(memory: WeakMap<K, V>, key: K, read: (key: K) => V): V {
  const known = memory.get(key);
  if (known !== undefined) return known;
  const value = read(key);
  memory.set(key, value);
  return value;
}
