import type { Isolation } from '../../api/vocabulary.ts';
import { InvalidInputError } from '../../api/errors.ts';
import { runChildName } from '../../api/names.ts';
import { CONTAINERS } from '../../api/pod-contract.ts';
import type { Deployment, Pod } from '../../kube/object.ts';
import { keyOf } from '../../kube/object.ts';
import { adapterFor } from '../../runtimes/registry.ts';
import { podsOfRun, statusOf, type Cache } from '../cache.ts';
import { runtimeImage, needsGateway, type ObjectsConfig } from '../objects/context.ts';
import { readRoundConfigMap, roundConfigMapName } from '../objects/round-config-map.ts';
import type { RunView } from '../run-view.ts';
import { suiteOf } from '../suite-view.ts';
import { surfacesOf } from '../surfaces.ts';
import { LABELS } from '../../api/names.ts';
import { isLivePod } from '../trial/pod-facts.ts';
import { imageDigest, jobFacts, lastWords, probeFacts } from './job-facts.ts';
import type {
  GatewayFacts,
  JobFacts,
  RoundFacts,
  RunObservation,
  TrialPodView,
  TrialView,
} from './observation.ts';

/** What the cache shows of a run. What needs the API server itself is added by the reconciler. */
export function observeCache(
  cache: Cache,
  run: RunView,
  config: Pick<ObjectsConfig, 'runtimeImages'>,
): Omit<RunObservation, 'missing' | 'claim' | 'modelAnswer' | 'createdTrials' | 'podRefusal'> {
  const pods = podsOfRun(cache, run);
  const key = (suffix: string) => keyOf({ namespace: run.namespace, name: runChildName(run.name, suffix) });
  const job = (suffix: string): JobFacts | null => {
    const found = cache.jobs.get(key(suffix));
    if (found === undefined || !isOurs(found.metadata.ownerReferences, run)) return null;
    return jobFacts(found, cache.pods.byIndex('job', found.metadata.uid));
  };
  const probe = cache.pods.get(key('probe'));
  const gateway = cache.deployments.get(key('gateway'));
  const gatewayPods = pods.filter(
    ({ metadata: { labels, deletionTimestamp } }) =>
      labels?.[LABELS.COMPONENT] === 'gateway' && deletionTimestamp === undefined,
  );
  return {
    run,
    invalid: invalidityOf(run, config),
    needsGateway: needsGateway(run),
    surfaces: surfacesOf(run),
    trials: trialsOf(cache, run),
    pods: pods.flatMap((pod) => trialPodOf(pod, run)),
    gateway:
      gateway === undefined || !isOurs(gateway.metadata.ownerReferences, run)
        ? null
        : gatewayFacts(gateway, gatewayPods),
    probe: probe === undefined || !isOurs(probe.metadata.ownerReferences, run) ? null : probeFacts(probe),
    prepare: job('prepare'),
    suite: suiteOf(cache, run),
    rounds: roundsOf(cache, run, job),
    seen: seenFacts(pods),
  };
}

function isOurs(owners: readonly { readonly uid: string }[] | undefined, run: RunView): boolean {
  return owners?.some(({ uid }) => uid === run.uid) === true;
}

export function trialsOf(cache: Pick<Cache, 'trials'>, run: RunView): TrialView[] {
  return cache.trials.byIndex('run', run.uid).map((trial) => ({
    name: trial.metadata.name,
    uid: trial.metadata.uid,
    resourceVersion: trial.metadata.resourceVersion,
    spec: trial.spec,
    status: statusOf(trial),
  }));
}

function trialPodOf(pod: Pod, run: RunView): TrialPodView[] {
  const { name, uid, labels, ownerReferences } = pod.metadata;
  const trial = labels?.[LABELS.TRIAL];
  return trial === undefined || !isOurs(ownerReferences, run)
    ? []
    : [{ name, uid, trial, live: isLivePod(pod) }];
}

/** Rounds are numbered from 1 without a gap; the first that is not there is the next one. */
function roundsOf(cache: Cache, run: RunView, job: (suffix: string) => JobFacts | null): RoundFacts[] {
  const rounds: RoundFacts[] = [];
  for (let number = 1; ; number += 1) {
    const name = roundConfigMapName(run, number);
    const configMap = cache.configMaps.get(keyOf({ namespace: run.namespace, name }));
    if (configMap === undefined || !isOurs(configMap.metadata.ownerReferences, run)) return rounds;
    const list = readRoundConfigMap({ data: configMap.data ?? {} });
    rounds.push({ number, list, job: job(`score-${number}`) });
  }
}

function gatewayFacts({ metadata, status }: Deployment, pods: readonly Pod[]): GatewayFacts {
  const current = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  const ready = current && (status?.availableReplicas ?? 0) > 0;
  const telling = status?.conditions?.find(
    ({ status: is, message }) => is === 'False' && message !== undefined,
  );
  // What its pod says is nearer to the cause than what its Deployment does.
  const message = lastWords(pods) ?? telling?.message ?? 'the gateway is starting';
  return { uid: metadata.uid, ready, message: ready ? '' : message };
}

/** What no pod can be made of; found before anything is created. */
function invalidityOf(run: RunView, config: Pick<ObjectsConfig, 'runtimeImages'>): string | null {
  try {
    const adapter = adapterFor(run.spec.runtime.id);
    const [problem] = adapter.validate({ ...run.spec.runtime, id: adapter.id });
    if (problem !== undefined) {
      return [problem.field, problem.message, problem.remedy].filter((part) => part !== undefined).join(': ');
    }
    runtimeImage(run, config);
    return null;
  } catch (thrown) {
    if (thrown instanceof InvalidInputError) return thrown.message;
    throw thrown;
  }
}

/** Digests of images as nodes resolved them. */
function seenFacts(pods: readonly Pod[]): Record<string, string> {
  const seen: Record<string, string> = {};
  for (const { status } of pods) {
    for (const container of status?.containerStatuses ?? []) {
      const digest = imageDigest(container);
      if (digest === null) continue;
      if (container.name === CONTAINERS.harness) seen['operatorImageDigest'] ??= digest;
      if (container.name === CONTAINERS.executor) {
        seen['runtimeImageDigest'] ??= digest;
        // An executor of a pod has namespaces of its own and is bounded by its cgroup, always.
        seen['isolation'] = 'container' satisfies Isolation;
      }
    }
  }
  return seen;
}
