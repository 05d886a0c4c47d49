import { setTimeout as delay } from 'node:timers/promises';
import type { ObjectRef } from '../../kube/object.ts';
import { FIELD_MANAGERS, RUN_FINALIZER } from '../../api/pod-contract.ts';
import { KubeClient } from '../../kube/client.ts';
import type { ClusterAccess } from '../../kube/config.ts';
import { isConflict, isNotFound } from '../../kube/errors.ts';
import type { Log } from '../deps.ts';
import { stopDeployment } from './stop-deployment.ts';
import type { RunResource } from '../run-view.ts';
import { RUN_OBJECTS } from '../run/apply.ts';

/** A running controller may write at the same time. */
const TRIES = 5;

/**
 * Takes the operator's finalizer off every run, because after the operator nobody would: runs and their namespaces could
 * never be deleted.
 *
 * @param namespaces none means all
 * @param controller the Deployment to stop first, where there is one: a controller that lives would put them back
 */
export async function releaseFinalizers(
  access: ClusterAccess,
  namespaces: readonly string[],
  controller: Required<ObjectRef> | null,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const client = new KubeClient(access, { fieldManager: FIELD_MANAGERS.controller });
  try {
    if (controller !== null) {
      await stopDeployment(client, controller, async (ms) => {
        await delay(ms, undefined, { signal });
      });
      log.info({ deployment: controller.name }, 'controller stopped');
    }
    for (const namespace of namespaces.length === 0 ? [undefined] : namespaces) {
      const { items } = await client.list(RUN_OBJECTS, { namespace, signal });
      for (const run of items) await release(client, run, log, signal);
    }
  } finally {
    await client.close();
  }
}

async function release(client: KubeClient, run: RunResource, log: Log, signal: AbortSignal): Promise<void> {
  let current: RunResource | null = run;
  for (let attempt = 1; current !== null; attempt += 1) {
    const { finalizers = [], resourceVersion, name } = current.metadata;
    if (!finalizers.includes(RUN_FINALIZER)) return;
    const others = finalizers.filter((finalizer) => finalizer !== RUN_FINALIZER);
    const body = { metadata: { resourceVersion, finalizers: others.length === 0 ? null : others } };
    try {
      await client.patch(RUN_OBJECTS, current.metadata, { type: 'merge', body }, { signal });
      log.info({ run: name, namespace: current.metadata.namespace }, 'finalizer released');
      return;
    } catch (thrown) {
      if (isNotFound(thrown)) return;
      if (!isConflict(thrown) || attempt === TRIES) throw thrown;
      current = await client.find(RUN_OBJECTS, current.metadata, { signal });
    }
  }
}
