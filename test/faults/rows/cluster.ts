import { setTimeout as delay } from 'node:timers/promises';
import { OPERATOR_NAMESPACE, type Cluster } from '../../e2e/support/cluster.ts';
import { LABELS } from '../../../src/api/names.ts';
import { PODS } from '../../../src/kube/resource.ts';
import { RUN, seenAtEnd, type FaultTest } from '../fault.ts';
import { slowRun } from '../suite.ts';
import { podInTurn, remove } from './pods.ts';

/** What is done to the cluster itself; everybody in it notices. */
export const CLUSTER_FAULTS: Readonly<Record<string, FaultTest>> = {
  'pod-deleted-no-controller': {
    run: async (namespace) => {
      await slowRun(namespace, RUN);
      const pod = await podInTurn(namespace);
      const replicas = await scale(namespace.cluster, '0');
      try {
        await remove(namespace, pod, { gracePeriodSeconds: 0 });
        await namespace.until('the pod is gone', async () => (await namespace.pods(RUN)).length === 0);
      } finally {
        await scale(namespace.cluster, replicas);
      }
      return await seenAtEnd(namespace);
    },
  },

  'controller-restarted': {
    run: async (namespace) => {
      await slowRun(namespace, RUN);
      await podInTurn(namespace);
      for (const pod of await controllers(namespace.cluster)) {
        await namespace.cluster.client.delete(
          PODS,
          { namespace: OPERATOR_NAMESPACE, name: pod.metadata.name },
          { uid: pod.metadata.uid, gracePeriodSeconds: 0 },
        );
      }
      return await seenAtEnd(namespace);
    },
  },
};

async function controllers(cluster: Cluster) {
  const { items } = await cluster.client.list(PODS, {
    namespace: OPERATOR_NAMESPACE,
    labelSelector: `${LABELS.COMPONENT}=controller`,
  });
  return items;
}

/** Scales the controller and waits until its pods are as many. @returns how many there were before */
async function scale(cluster: Cluster, replicas: string): Promise<string> {
  const selector = ['deployment', '-n', OPERATOR_NAMESPACE, '-l', `${LABELS.COMPONENT}=controller`];
  const before = await cluster.must(['get', ...selector, '-o', 'jsonpath={.items[0].spec.replicas}']);
  await cluster.must(['scale', ...selector, `--replicas=${replicas}`]);
  for (;;) {
    const pods = await controllers(cluster);
    if (pods.length === Number(replicas)) return before;
    await delay(500);
  }
}
