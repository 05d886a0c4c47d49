import type { Pod } from '../../../src/kube/object.ts';
import { PODS } from '../../../src/kube/resource.ts';
import type { Namespace } from '../../e2e/support/cluster.ts';
import { RUN, seenAtEnd, type FaultTest } from '../fault.ts';
import { killIn, processesOf, starveOfMemory } from '../node.ts';
import { slowRun } from '../suite.ts';

/** The first attempt's pod, once its agent runs. */
export async function podInTurn(namespace: Namespace): Promise<Pod> {
  return await namespace.until('an agent runs', async () => {
    const [pod] = await namespace.pods(RUN);
    return pod !== undefined && processesOf(pod, 'agent.mjs').length > 0 ? pod : null;
  });
}

/** A trial's pod is taken away or broken: run again, in the open. */
export const POD_FAULTS: Readonly<Record<string, FaultTest>> = {
  'harness-killed': {
    run: async (namespace) => {
      await slowRun(namespace, RUN);
      killIn(await podInTurn(namespace), 'harness');
      return await seenAtEnd(namespace);
    },
  },

  'harness-oom': {
    run: async (namespace) => {
      await slowRun(namespace, RUN);
      const [harness] = processesOf(await podInTurn(namespace), 'harness');
      await starveOfMemory(harness ?? 0);
      return await seenAtEnd(namespace);
    },
  },

  'pod-deleted-staging': {
    run: async (namespace) => {
      await slowRun(namespace, RUN);
      const pod = await namespace.until('a pod is there', async () => (await namespace.pods(RUN))[0]);
      await remove(namespace, pod, {});
      return await seenAtEnd(namespace);
    },
  },

  'pod-deleted-turn': {
    run: async (namespace) => {
      await slowRun(namespace, RUN);
      await remove(namespace, await podInTurn(namespace), {});
      return await seenAtEnd(namespace);
    },
  },

  'pod-deleted-force': {
    run: async (namespace) => {
      await slowRun(namespace, RUN);
      await remove(namespace, await podInTurn(namespace), { gracePeriodSeconds: 0 });
      return await seenAtEnd(namespace);
    },
  },

  'pod-evicted': {
    run: async (namespace) => {
      await slowRun(namespace, RUN);
      const { metadata } = await podInTurn(namespace);
      await namespace.cluster.must(
        ['create', '--raw', `/api/v1/namespaces/${namespace.name}/pods/${metadata.name}/eviction`, '-f', '-'],
        JSON.stringify({
          apiVersion: 'policy/v1',
          kind: 'Eviction',
          metadata: { name: metadata.name, namespace: namespace.name },
        }),
      );
      return await seenAtEnd(namespace);
    },
  },
};

/** Deletes a pod as a person would. */
export async function remove(
  namespace: Namespace,
  pod: Pod,
  options: { readonly gracePeriodSeconds?: number },
): Promise<void> {
  await namespace.cluster.client.delete(
    PODS,
    { namespace: namespace.name, name: pod.metadata.name },
    { uid: pod.metadata.uid, ...options },
  );
}
