import { request } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { indexConfigMaps } from '../../../src/api/index-config-map.ts';
import { runClaim } from '../../../src/controller/objects/claim.ts';
import type { RunContext } from '../../../src/controller/objects/context.ts';
import { gatewayDeployment, gatewaySecret, gatewayService } from '../../../src/controller/objects/gateway.ts';
import { networkPolicies } from '../../../src/controller/objects/network-policies.ts';
import { prepareJob } from '../../../src/controller/objects/prepare-job.ts';
import { probePod } from '../../../src/controller/objects/probe-pod.ts';
import { readerPod } from '../../../src/controller/objects/reader-pod.ts';
import { roundConfigMap } from '../../../src/controller/objects/round-config-map.ts';
import { scoreJob } from '../../../src/controller/objects/score-job.ts';
import { workerRoleBinding, workerServiceAccount } from '../../../src/controller/objects/worker-account.ts';
import { startApiServer, type TestApiServer } from '../../support/api-server.ts';
import {
  CONFIG,
  indexOf,
  MODEL,
  ONE_NODE_CLAIM,
  podOf,
  roundOf,
  runOf,
  runtimeRun,
} from '../../support/run-objects.ts';

let server: TestApiServer;

beforeAll(async () => {
  server = await startApiServer();
  // `team` is the namespace of the runs; Pod Security refuses there what is not restricted, and warns elsewhere.
  await create('/api/v1/namespaces', namespaceOf('team', 'restricted'));
  await create('/api/v1/namespaces', namespaceOf('team-baseline', 'baseline'));
});
afterAll(() => server.stop());

const namespaceOf = (name: string, enforce: string) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name,
    labels: {
      'pod-security.kubernetes.io/enforce': enforce,
      'pod-security.kubernetes.io/warn': enforce,
    },
  },
});

interface Answer {
  readonly status: number;
  /** The API server's own words on what it refuses. */
  readonly message: string;
  readonly warnings: readonly string[];
}

async function create(path: string, object: object, query = ''): Promise<Answer> {
  return await new Promise((resolve, reject) => {
    const asked = request(
      `${server.url}${path}${query}`,
      {
        method: 'POST',
        ca: server.caData,
        agent: false,
        headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.once('end', () => {
          const { message = '' } = JSON.parse(text) as { message?: string };
          const warning = response.headersDistinct['warning'] ?? [];
          resolve({ status: response.statusCode ?? 0, message, warnings: warning });
        });
      },
    );
    asked.once('error', reject);
    asked.end(JSON.stringify(object));
  });
}

const PATHS: Readonly<Record<string, string>> = {
  Pod: 'api/v1/_/pods',
  Service: 'api/v1/_/services',
  Secret: 'api/v1/_/secrets',
  ConfigMap: 'api/v1/_/configmaps',
  ServiceAccount: 'api/v1/_/serviceaccounts',
  PersistentVolumeClaim: 'api/v1/_/persistentvolumeclaims',
  Job: 'apis/batch/v1/_/jobs',
  Deployment: 'apis/apps/v1/_/deployments',
  NetworkPolicy: 'apis/networking.k8s.io/v1/_/networkpolicies',
  RoleBinding: 'apis/rbac.authorization.k8s.io/v1/_/rolebindings',
};

interface Built {
  readonly kind?: string | undefined;
  readonly metadata: { readonly name?: string | undefined };
}

/** As the API server would answer to the object in a namespace: every field known, every rule of admission asked. */
async function wouldCreate(object: Built, namespace = 'team'): Promise<Answer> {
  const path = PATHS[object.kind ?? ''];
  if (path === undefined) throw new Error(`no path for ${object.kind ?? ''}`);
  const there = { ...object, metadata: { ...object.metadata, namespace } };
  return create(
    `/${path.replace('_', `namespaces/${namespace}`)}`,
    there,
    '?dryRun=All&fieldValidation=Strict',
  );
}

const accepted: Answer = { status: 201, message: '', warnings: [] };

const RUNS: Readonly<Record<string, RunContext>> = {
  'the scripted runtime': runOf(),
  'a model and a queue': runOf({ model: MODEL, queueName: 'benchmarks' }),
  'a cassette and the scripted model': runOf({
    model: { id: 'any', api: 'scripted', cassette: { mode: 'record', claim: 'tapes' } },
  }),
  'Internet and an injected Node.js': runOf({
    runtime: { id: 'scripted', injectNode: true },
    network: { egress: 'Internet' },
  }),
  'rules and a podTemplate': runOf({
    runtime: {
      id: 'scripted',
      podTemplate: {
        nodeSelector: { pool: 'bench' },
        tolerations: [{ key: 'bench', operator: 'Exists', effect: 'NoSchedule' }],
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: 'gpu', operator: 'DoesNotExist' }] }],
            },
          },
        },
        securityContext: { supplementalGroups: [3000], supplementalGroupsPolicy: 'Strict' },
        labels: { team: 'blue' },
        annotations: { note: 'ours' },
      },
    },
    network: {
      egress: 'Rules',
      rules: [{ to: [{ ipBlock: { cidr: '192.0.2.0/24' } }], ports: [{ port: 443 }] }],
    },
  }),
  'a suite in a claim': runOf({ suite: { persistentVolumeClaim: { claimName: 'suites', path: 'a' } } }),
  'a suite in a ConfigMap, rescored': runOf({
    suite: { configMap: { name: 'suite' } },
    scoring: { suite: { configMap: { name: 'repaired' } } },
  }),
};

function objectsOf(run: RunContext): Built[] {
  const claim = runClaim(run, CONFIG);
  return [
    podOf(run, { claim: ONE_NODE_CLAIM }).pod,
    prepareJob(run, CONFIG, ONE_NODE_CLAIM),
    scoreJob(run, CONFIG, ONE_NODE_CLAIM, 1, 36),
    ...(run.spec.model === undefined
      ? []
      : [
          gatewayDeployment(run, CONFIG, ONE_NODE_CLAIM),
          gatewayService(run),
          gatewaySecret(run, 's'.repeat(43)),
        ]),
    ...(claim === null ? [] : [claim]),
    ...networkPolicies(run, CONFIG),
    ...networkPolicies(run, { ...CONFIG, apiServerCIDRs: [] }),
    workerServiceAccount('team'),
    workerRoleBinding('team', CONFIG),
    probePod(run, CONFIG),
    readerPod(run, CONFIG, ONE_NODE_CLAIM, 'a1'),
    ...indexConfigMaps(run, indexOf(12)),
    roundConfigMap(run, 1, roundOf(36)),
  ];
}

/** Pods that controllers of Kubernetes would make of Jobs and Deployments: Pod Security only warns of those. */
const podsOf = (objects: readonly Built[]): Built[] =>
  objects.flatMap((object) => {
    const { template } =
      (object as { spec?: { template?: { metadata?: object; spec?: object } } }).spec ?? {};
    if (template === undefined) return [];
    return [
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { ...template.metadata, name: 'made' },
        spec: template.spec,
      },
    ];
  });

describe.each(Object.entries(RUNS))('a restricted namespace, with a run of %s', (_, run) => {
  it('takes every object', async () => {
    const objects = objectsOf(run);
    for (const object of [...objects, ...podsOf(objects)]) {
      const answer = await wouldCreate(object);
      expect({ [`${object.kind ?? ''} ${object.metadata.name ?? ''}`]: answer }).toEqual({
        [`${object.kind ?? ''} ${object.metadata.name ?? ''}`]: accepted,
      });
    }
  });
});

describe('Pod Security', () => {
  it('takes the pods of root images at level baseline, and refuses them at level restricted', async () => {
    const run = runtimeRun({ id: 'openclaw' });
    for (const pod of [podOf(run).pod, probePod(run, CONFIG)]) {
      expect(await wouldCreate(pod, 'team-baseline')).toEqual(accepted);
      const refused = await wouldCreate(pod);
      expect(refused.status).toBe(403);
      expect(refused.message).toContain('violates PodSecurity "restricted');
    }
  });

  it('takes an image volume with a suite', async () => {
    const run = runOf({ suite: { image: { reference: 'suites.test/mine:1' } } });
    const objects = [prepareJob(run, CONFIG, ONE_NODE_CLAIM)];
    for (const object of [...objects, ...podsOf(objects)])
      expect(await wouldCreate(object)).toEqual(accepted);
  });
});

it('refuses what no run may have, so that acceptance above says something', async () => {
  const { pod } = podOf(runOf());
  expect(await wouldCreate({ ...pod, spec: { ...pod.spec, hostNetwork: true } } as Built)).toMatchObject({
    status: 403,
  });
  expect(await wouldCreate({ ...pod, spec: { ...pod.spec, unknownField: 1 } } as Built)).toMatchObject({
    status: 400,
  });
});
