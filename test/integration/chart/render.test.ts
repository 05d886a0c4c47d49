import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { controllerConfigSchema } from '../../../src/api/controller-config.ts';
import { startApiServer, type TestApiServer } from '../../support/api-server.ts';
import { CHART, Helm, type Rendered } from '../../support/helm.ts';
import { objectPath } from '../../support/kind-paths.ts';
import { RawApi } from '../../support/raw-api.ts';

let server: TestApiServer;
let api: RawApi;
let helm: Helm;

beforeAll(async () => {
  [helm, server] = await Promise.all([Helm.start(), startApiServer()]);
  api = new RawApi(server);
  for (const name of ['system', 'team-a', 'team-b']) {
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
    expect((await api.call('POST', '/api/v1/namespaces', namespace)).status).toBe(201);
  }
});
afterAll(async () => {
  await helm.stop();
  await api.close();
  await server.stop();
});

const MATRIX: readonly (readonly [string, readonly string[]])[] = [
  ['its defaults', []],
  ['one replica', ['replicas=1', 'podDisruptionBudget.enabled=false']],
  ['rights in two namespaces', ['watchNamespaces={team-a,team-b}']],
  ['nothing outside of a namespace', ['watchNamespaces={team-a}', 'clusterResources.create=false']],
  ['metrics for two namespaces', ['metricsNamespaces={monitoring,system}', 'ports.metrics=9191']],
  ['no network policy', ['networkPolicy.enabled=false']],
  [
    'an image by digest, with secrets',
    [`image.digest=sha256:${'a'.repeat(64)}`, 'imagePullSecrets={mirror}', 'image.pullPolicy=Never'],
  ],
  [
    'placement',
    [
      'nodeSelector.disk=ssd',
      'tolerations[0].operator=Exists',
      'priorityClassName=system-cluster-critical',
      'affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight=1',
      'affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].key=a',
      'affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].operator=Exists',
      'podLabels.team=x',
      'podAnnotations.note=y',
      'serviceAccount.annotations.role=z',
    ],
  ],
  [
    'other times and sizes',
    [
      'globalParallelism=7',
      'failedPodsKept=1',
      'breaker.probeEverySeconds=2',
      'breaker.failAfterSeconds=9',
      'preflight.enabled=false',
      'leaderElection.leaseSeconds=3',
      'leaderElection.renewSeconds=2',
      'leaderElection.retrySeconds=1',
      'leaderElection.namespace=team-b',
      'defaultStorage.storageClassName=fast',
      'pythonImage=python:x',
      'runtimeImages.openclaw=openclaw:1',
      'clusterCIDRs={203.0.113.0/24,2001:db8::/32}',
    ],
  ],
];

describe('the chart with', () => {
  it.each(MATRIX)('%s makes objects that the API server takes', async (_, set) => {
    const objects = await helm.template('system', set);
    expect(objects.length).toBeGreaterThan(10);
    for (const object of objects) {
      const path = objectPath(object);
      const answer = await api.call(
        'PATCH',
        `${path}?dryRun=All&fieldManager=test&force=true&fieldValidation=Strict`,
        object,
        { contentType: 'application/apply-patch+yaml' },
      );
      expect(answer.body.message, path).toBeUndefined();
      expect(answer.warnings, path).toEqual([]);
    }
  });

  it.each(MATRIX)('%s gives the controller a configuration that it can read', async (_, set) => {
    const config = configOf(await helm.template('system', set));
    const parsed = controllerConfigSchema.parse(config);
    // Every field that has a value is handed on, none is left to the program's own defaults.
    expect(config).toEqual(JSON.parse(JSON.stringify(parsed)));
  });

  it.each([
    ['its defaults', []],
    ['rights in two namespaces', ['watchNamespaces={team-a}']],
  ])('%s runs pods of the restricted profile only', async (_, set) => {
    const templates = (await helm.template('system', set)).flatMap(podTemplates);
    expect(templates).toHaveLength(2);
    for (const { metadata, spec } of templates) {
      const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name: 'x' }, spec };
      const answer = await api.call('POST', '/api/v1/namespaces/system/pods?dryRun=All', pod);
      expect(answer.body.message).toBeUndefined();
      expect(answer.status).toBe(201);
      expect(answer.warnings).toEqual([]);
      for (const container of spec.containers) {
        expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true });
      }
    }
  });
});

describe('what the values say reaches its object:', () => {
  it('the controller reads the configuration that the chart mounts, and starts anew when it changes', async () => {
    const first = await helm.template('system');
    const second = await helm.template('system', ['globalParallelism=7']);
    expect(configOf(second)).toMatchObject({
      globalParallelism: 7,
      operatorImage: expect.any(String) as unknown,
    });
    const checksum = (objects: Rendered[]) =>
      podTemplates(find(objects, 'Deployment'))[0]?.metadata.annotations;
    expect(checksum(first)).not.toEqual(checksum(second));
    expect(podTemplates(find(first, 'Deployment'))[0]?.spec.containers[0]).toMatchObject({
      args: ['controller', '--config', '/etc/clawbench/config.json'],
    });
  });

  it('two replicas, spread and protected, by default', async () => {
    const objects = await helm.template('system');
    expect(find(objects, 'Deployment').spec).toMatchObject({ replicas: 2 });
    expect(find(objects, 'PodDisruptionBudget').spec).toMatchObject({ minAvailable: 1 });
    expect(JSON.stringify(find(objects, 'Deployment').spec)).toContain('preferredDuringScheduling');
  });

  it('a digest is used in place of the tag', async () => {
    const objects = await helm.template('system', ['image.digest=sha256:abc', 'image.tag=x']);
    expect(configOf(objects)).toMatchObject({ operatorImage: 'localhost/clawbench-operator@sha256:abc' });
  });

  it('metrics are for the named namespaces only', async () => {
    const closed = find(await helm.template('system'), 'NetworkPolicy').spec;
    expect(closed).toMatchObject({ policyTypes: ['Ingress'], ingress: [] });
    const open = find(
      await helm.template('system', ['metricsNamespaces={monitoring}']),
      'NetworkPolicy',
    ).spec;
    expect(open).toMatchObject({
      ingress: [
        {
          from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
          ports: [{ protocol: 'TCP', port: 9090 }],
        },
      ],
    });
  });

  it('nothing outside of the namespaces is made where that is asked for', async () => {
    const objects = await helm.template('system', [
      'watchNamespaces={team-a}',
      'clusterResources.create=false',
    ]);
    expect(objects.filter(({ metadata }) => metadata.namespace === undefined)).toEqual([]);
    expect(configOf(objects)).toMatchObject({ watchNamespaces: ['team-a'], workerRoleKind: 'Role' });
    const roles = objects.filter(({ kind, metadata }) => kind === 'Role' && metadata.namespace === 'team-a');
    expect(roles.map(({ metadata }) => metadata.name).sort()).toEqual([
      'clawbench-clawbench-operator',
      'clawbench-clawbench-operator-release-runs',
      'clawbench-worker',
    ]);
  });

  it('CRDs are kept by an uninstallation', async () => {
    const crds = (await helm.template('system')).filter(({ kind }) => kind === 'CustomResourceDefinition');
    expect(crds).toHaveLength(2);
    for (const { metadata } of crds) {
      expect(metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
    }
  });
});

describe('values that cannot be', () => {
  it.each([
    ['replica=3', "additional properties 'replica' not allowed"],
    ['breaker.probeEvery=3', "additional properties 'probeEvery' not allowed"],
    ['replicas=many', 'got string, want integer'],
    ['globalParallelism=0', 'minimum: got 0, want 1'],
    ['image.pullPolicy=Sometimes', "value must be one of 'Always', 'IfNotPresent', 'Never'"],
    ['defaultStorage.size=big', 'does not match pattern'],
    ['clusterResources.create=false', 'watchNamespaces is needed where clusterResources.create is false'],
    ['leaderElection.retrySeconds=8', 'retrySeconds must be below renewSeconds'],
  ])('are refused: %s', async (set, sentence) => {
    await expect(helm.template('system', [set])).rejects.toThrow(sentence);
  });

  it('are the only ones: lint finds nothing', async () => {
    expect(await helm.run(['lint', '--strict', CHART])).toContain('0 chart(s) failed');
  });
});

interface PodTemplate {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: { readonly containers: readonly { readonly securityContext: unknown }[] };
}

function podTemplates({ kind, spec }: Rendered): PodTemplate[] {
  if (kind !== 'Deployment' && kind !== 'Job') return [];
  const { template } = spec as { template: PodTemplate & { spec: { serviceAccountName?: string } } };
  // The account does not exist yet; the profile looks at the rest.
  const { serviceAccountName: _, ...rest } = template.spec;
  return [{ ...template, spec: rest }];
}

function find(objects: readonly Rendered[], kind: string): Rendered {
  const object = objects.find((candidate) => candidate.kind === kind);
  if (object === undefined) throw new Error(`no ${kind} was rendered`);
  return object;
}

function configOf(objects: readonly Rendered[]): unknown {
  return JSON.parse(find(objects, 'ConfigMap').data?.['config.json'] ?? '');
}
