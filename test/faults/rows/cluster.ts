import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MACHINE, statePaths } from '../../../hack/devcluster/paths.ts';
import { command, OPERATOR_NAMESPACE, type Cluster } from '../../e2e/support/cluster.ts';
import { CHECKOUT } from '../../support/cli.ts';
import { processOf } from '../node.ts';
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

  'api-server-restarted': {
    run: async (namespace) => {
      await slowRun(namespace, RUN, { seconds: 20 });
      await podInTurn(namespace);
      process.kill(processOf('kube-apiserver', statePaths().pki), 'SIGKILL');
      await delay(3000);
      const up = await command(process.execPath, [
        '--disable-warning=ExperimentalWarning',
        join(CHECKOUT, 'hack/devcluster/main.ts'),
        'up',
      ]);
      if (up.code !== 0) throw new Error(up.stderr);
      return await seenAtEnd(namespace, { seconds: 240 });
    },
  },

  'node-gone': {
    run: async (namespace) => {
      const tolerations = ['not-ready', 'unreachable'].map((what) => ({
        key: `node.kubernetes.io/${what}`,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 5,
      }));
      await slowRun(namespace, RUN, { spec: { runtime: { id: 'scripted', podTemplate: { tolerations } } } });
      await podInTurn(namespace);
      const kubelet = processOf('kubelet', statePaths().root, 'node-0');
      process.kill(kubelet, 'SIGSTOP');
      try {
        await namespace.until(
          'the attempt is given up',
          async () => (await namespace.trials(RUN))[0]?.status?.attempts?.[0]?.endedAt,
          600,
        );
      } finally {
        process.kill(kubelet, 'SIGCONT');
      }
      return await seenAtEnd(namespace, { seconds: 300 });
    },
  },

  'volume-full': {
    run: async (namespace) => {
      const folder = join(MACHINE.volumes, namespace.name);
      await mkdir(folder, { recursive: true });
      const mounted = await command('mount', [
        '-t',
        'tmpfs',
        '-o',
        'size=24m,mode=0777',
        'clawbench',
        folder,
      ]);
      if (mounted.code !== 0) throw new Error(mounted.stderr);
      try {
        const capacity = { storage: '24Mi' };
        await namespace.cluster.apply(namespace.name, {
          apiVersion: 'v1',
          kind: 'PersistentVolume',
          metadata: { name: namespace.name },
          spec: {
            accessModes: ['ReadWriteOnce'],
            capacity,
            storageClassName: '',
            hostPath: { path: folder },
            claimRef: { namespace: namespace.name, name: 'small' },
          },
        });
        await namespace.cluster.apply(namespace.name, {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { name: 'small' },
          spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: capacity } },
        });
        await slowRun(namespace, RUN, {
          before: [{ shell: 'head -c 40000000 /dev/urandom > large.bin' }],
          spec: { artifacts: { persistentVolumeClaim: { claimName: 'small' } } },
        });
        return await seenAtEnd(namespace, { seconds: 900 });
      } finally {
        await namespace.cluster.kubectl([
          'delete',
          'brun,pod,job',
          '--all',
          '-n',
          namespace.name,
          '--timeout=120s',
        ]);
        await namespace.cluster.kubectl(['delete', 'pv', namespace.name, '--wait=false']);
        await command('umount', ['-l', folder]);
      }
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
