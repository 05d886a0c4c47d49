import type { KubeClient } from '../../kube/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { ObjectRef } from '../../kube/object.ts';
import { DEPLOYMENTS } from '../../kube/resource.ts';

/** How often the Deployment is looked at while its pods end. */
const LOOK_MS = 500;

/**
 * Scales a Deployment to nothing and waits until none of its pods is left. An uninstallation does so with the
 * controller before it takes finalizers off runs: a controller that lives would put them back.
 *
 * @param sleep waits so many milliseconds; rejects when it was given up
 */
export async function stopDeployment(
  client: KubeClient,
  ref: Required<ObjectRef>,
  sleep: (ms: number) => Promise<void>,
): Promise<void> {
  try {
    await client.patch(
      DEPLOYMENTS,
      ref,
      { type: 'merge', body: { spec: { replicas: 0 } } },
      { subresource: 'scale' },
    );
    for (;;) {
      const { metadata, status } = await client.get(DEPLOYMENTS, ref);
      const isSeen = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
      const left = (status?.replicas ?? 0) + (status?.terminatingReplicas ?? 0);
      if (isSeen && left === 0) return;
      await sleep(LOOK_MS);
    }
  } catch (thrown) {
    // It is gone already: nobody is left to put anything back.
    if (!isNotFound(thrown)) throw thrown;
  }
}
