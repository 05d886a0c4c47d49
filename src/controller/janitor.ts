import { LABELS } from '../api/names.ts';
import type { ReconcileResult } from '../kube/controller.ts';
import { isConflict, isNotFound } from '../kube/errors.ts';
import type { Pod } from '../kube/object.ts';
import { PODS } from '../kube/resource.ts';
import type { Deps } from './deps.ts';
import { TRIAL_OBJECTS } from './trial/reconciler.ts';

/** A pod is older than this before its Trial is missed: caches fill in no order. */
const GRACE_MS = 60_000;
const EVERY_SECONDS = 60;

/**
 * Removes pods whose Trial is gone: nobody would ever look at them again. The API server is asked before anything is
 * removed, because a cache may be behind.
 */
export async function sweepOrphans(
  { cache, client, clock, config, log }: Pick<Deps, 'cache' | 'client' | 'clock' | 'config' | 'log'>,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const now = clock.date().getTime();
  for (const pod of cache.pods.list()) {
    const ref = trialOf(pod);
    if (ref === null || pod.metadata.deletionTimestamp !== undefined) continue;
    if (now - Date.parse(pod.metadata.creationTimestamp) < GRACE_MS) continue;
    if (cache.trials.get(`${ref.namespace}/${ref.name}`) !== undefined) continue;
    if ((await client.find(TRIAL_OBJECTS, ref, { signal })) !== null) continue;
    try {
      const { uid } = pod.metadata;
      const { gracePeriodSeconds } = config;
      await client.delete(PODS, pod.metadata, { uid, gracePeriodSeconds, signal });
      log.warn({ pod: pod.metadata.name, trial: ref.name }, 'pod without a Trial deleted');
    } catch (thrown) {
      if (!isNotFound(thrown) && !isConflict(thrown)) throw thrown;
    }
  }
  return { requeueAfterSeconds: EVERY_SECONDS };
}

function trialOf({ metadata }: Pod): { readonly namespace: string; readonly name: string } | null {
  const name = metadata.labels?.[LABELS.TRIAL];
  return name === undefined ? null : { namespace: metadata.namespace ?? '', name };
}
