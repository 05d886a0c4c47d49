import { setTimeout as delay } from 'node:timers/promises';
import { QUICK, type Namespace } from '../../e2e/support/cluster.ts';
import { RUN, seen, seenAtEnd, untilSaid, type FaultTest } from '../fault.ts';
import { suiteConfigMap } from '../suite.ts';

/** What is missing, refused or full before an agent can start. */
export const SETUP_FAULTS: Readonly<Record<string, FaultTest>> = {
  'image-missing': {
    run: async (namespace) => {
      await namespace.run(RUN, { runtime: { id: 'scripted', image: 'localhost/nowhere:1' } });
      return await seenAtEnd(namespace);
    },
  },

  unschedulable: {
    run: async (namespace) => {
      const label = `test-${namespace.name}`;
      await namespace.run(RUN, {
        runtime: { id: 'scripted', podTemplate: { nodeSelector: { [label]: 'yes' } } },
      });
      const said = await untilSaid(namespace, 'node affinity/selector');
      const [node] = (await namespace.cluster.must(['get', 'node', '-o', 'name'])).trim().split('\n');
      await namespace.cluster.must(['label', node ?? '', `${label}=yes`]);
      try {
        return await seenAtEnd(namespace, { says: said });
      } finally {
        await namespace.cluster.must(['label', node ?? '', `${label}-`]);
      }
    },
  },

  'secret-missing': late('late-key', {
    spec: {
      model: { id: 'm', api: 'scripted', apiKeySecretRef: { name: 'late-key', key: 'key' } },
    },
    come: (namespace) =>
      namespace.cluster.apply(namespace.name, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'late-key' },
        stringData: { key: 'k' },
      }),
  }),

  'claim-missing': late('late-claim', {
    spec: { artifacts: { persistentVolumeClaim: { claimName: 'late-claim' } } },
    come: (namespace) => namespace.cluster.apply(namespace.name, claim('late-claim', 'ReadWriteOnce')),
  }),

  'configmap-missing': late('late-suite', {
    spec: { suite: { configMap: { name: 'late-suite' } } },
    come: (namespace) => suiteConfigMap(namespace, 'late-suite', { scenarios: 1 }),
  }),

  'claim-single-pod': {
    run: async (namespace) => {
      await namespace.cluster.apply(namespace.name, claim('single', 'ReadWriteOncePod'));
      await namespace.run(RUN, { artifacts: { persistentVolumeClaim: { claimName: 'single' } } });
      return await seenAtEnd(namespace);
    },
  },

  'quota-exceeded': {
    run: async (namespace) => {
      const quota = (pods: number) =>
        namespace.cluster.apply(namespace.name, {
          apiVersion: 'v1',
          kind: 'ResourceQuota',
          metadata: { name: 'quota' },
          spec: { hard: { pods: String(pods) } },
        });
      await quota(0);
      await namespace.run(RUN);
      const said = await untilSaid(namespace, 'exceeded quota');
      await quota(10);
      return await seenAtEnd(namespace, { says: said });
    },
  },

  'pod-security': {
    labels: { 'pod-security.kubernetes.io/enforce': 'restricted' },
    run: async (namespace) => {
      await namespace.run(RUN, {
        runtime: { id: 'scripted', podTemplate: { securityContext: { runAsUser: 0 } } },
      });
      const said = await untilSaid(namespace, 'violates PodSecurity');
      return seen(await namespace.getRun(RUN), (await namespace.trials(RUN))[0], said);
    },
  },

  'restricted-namespace': {
    labels: { 'pod-security.kubernetes.io/enforce': 'restricted' },
    run: async (namespace) => {
      await namespace.run(RUN);
      return await seenAtEnd(namespace);
    },
  },
};

/** Something that the run names is missing, is told of by name, and comes. */
function late(
  name: string,
  options: {
    readonly spec: Readonly<Record<string, unknown>>;
    readonly come: (namespace: Namespace) => Promise<unknown>;
  },
): FaultTest {
  return {
    run: async (namespace) => {
      await namespace.run(RUN, { suite: { builtin: {}, scenarioIds: [QUICK] }, ...options.spec });
      const said = await untilSaid(namespace, name);
      await delay(2000);
      expectOpen(await namespace.getRun(RUN));
      await options.come(namespace);
      return await seenAtEnd(namespace, { says: said });
    },
  };
}

function expectOpen(run: Awaited<ReturnType<Namespace['getRun']>>): void {
  const ended = run.status?.conditions.find(
    ({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True',
  );
  if (ended !== undefined) throw new Error(`the run ended instead of waiting: ${ended.message}`);
}

function claim(name: string, accessMode: string): object {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name },
    spec: { accessModes: [accessMode], resources: { requests: { storage: '1Gi' } } },
  };
}
