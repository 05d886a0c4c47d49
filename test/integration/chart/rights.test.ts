import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { API_VERSION } from '../../../src/api/benchmark-run.ts';
import { startApiServer, type TestApiServer } from '../../support/api-server.ts';
import { applyCrds } from '../../support/crds.ts';
import { CHART, Helm } from '../../support/helm.ts';
import { RawApi, serviceAccount, type Impersonation } from '../../support/raw-api.ts';

/** Two installations in one cluster: one for all namespaces, one for a team alone. */
const CONTROLLER = serviceAccount('system', 'clawbench-clawbench-operator');
const TEAM_CONTROLLER = serviceAccount('team', 'own-clawbench-operator');
const RELEASE = serviceAccount('system', 'clawbench-clawbench-operator-release');
const WORKER = serviceAccount('runs', 'clawbench-worker');
const ROOT = `/apis/${API_VERSION}/namespaces/runs`;

let server: TestApiServer;
let api: RawApi;
let helm: Helm;

beforeAll(async () => {
  [helm, server] = await Promise.all([Helm.start(), startApiServer()]);
  api = new RawApi(server);
  for (const name of ['system', 'team', 'runs', 'other']) {
    await created('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  const install = async (release: string, namespace: string, ...set: string[]) =>
    helm.run(
      ['install', release, CHART, '-n', namespace, ...set.flatMap((value) => ['--set', value])],
      server.kubeconfigPath,
    );
  await install('clawbench', 'system');
  await install('own', 'team', 'watchNamespaces={team}', 'clusterResources.create=false');
  await applyCrds(api);
  await created(
    '/apis/rbac.authorization.k8s.io/v1/namespaces/runs/rolebindings',
    workerBinding(),
    CONTROLLER,
  );
  await policiesInForce();
}, 180_000);
afterAll(async () => {
  await helm.stop();
  await api.close();
  await server.stop();
});

function workerBinding(role = 'clawbench-worker', name = 'clawbench-worker', kind = 'ClusterRole') {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: role },
    subjects: [{ kind: 'ServiceAccount', name: 'clawbench-worker', namespace: 'runs' }],
  };
}

async function created(path: string, body: unknown, as?: Impersonation): Promise<string> {
  const answer = await api.call('POST', path, body, as === undefined ? {} : { as });
  expect(answer.body.message).toBeUndefined();
  expect(answer.status).toBe(201);
  return `${path}/${answer.body.metadata?.name ?? ''}`;
}

/** Policies come into force some moments after they are stored: one that refuses shows it. */
async function policiesInForce(): Promise<void> {
  const run = await runOf();
  const trial = await trialOf({ phase: 'Executed' });
  const refused = async () => [
    await api.merge(`${run}/status`, { status: { phase: 'Failed' } }, { as: WORKER }),
    await api.merge(`${trial}/status`, { status: { phase: 'Running' } }, { as: WORKER }),
  ];
  const end = performance.now() + 30_000;
  while (performance.now() < end) {
    if ((await refused()).every(({ status }) => status === 422)) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(JSON.stringify(await refused()));
}

let names = 0;
async function runOf(): Promise<string> {
  names += 1;
  return await created(`${ROOT}/benchmarkruns`, {
    ...{ apiVersion: API_VERSION, kind: 'BenchmarkRun', metadata: { name: `run-${names}` } },
    spec: { suite: { builtin: {} }, runtime: { id: 'scripted' } },
  });
}

async function trialOf(status: Record<string, unknown>): Promise<string> {
  names += 1;
  const path = await created(`${ROOT}/trials`, {
    ...{ apiVersion: API_VERSION, kind: 'Trial', metadata: { name: `trial-${names}` } },
    spec: {
      ...{ runName: 'run', scenarioId: 's', trialNumber: 1, dimension: 'planning' },
      ...{ scenarioDigest: 'a', suiteDigest: 'b' },
    },
  });
  const written = await api.merge(`${path}/status`, { status });
  expect(written.body.message).toBeUndefined();
  return path;
}

/** `resource` is `group/plural[/subresource][:name]`; the core group is written as `core`. */
async function may(as: Impersonation, verb: string, resource: string, namespace: string): Promise<boolean> {
  const [path = '', name] = resource.split(':');
  const [group = '', plural = '', subresource] = path.split('/');
  const { body } = await api.call('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: {
      ...{ user: as.user, groups: as.groups },
      resourceAttributes: {
        ...{ verb, group: group === 'core' ? '' : group, resource: plural, namespace },
        ...(subresource === undefined ? {} : { subresource }),
        ...(name === undefined ? {} : { name }),
      },
    },
  });
  return (body.status as { allowed: boolean }).allowed;
}

describe('the controller', () => {
  it.each([
    ['watch', 'clawbench.dev/benchmarkruns'],
    ['patch', 'clawbench.dev/trials/status'],
    ['create', 'core/pods'],
    ['delete', 'core/pods'],
    ['create', 'batch/jobs'],
    ['get', 'core/secrets'],
    ['create', 'networking.k8s.io/networkpolicies'],
    ['list', 'storage.k8s.io/storageclasses'],
    ['bind', 'rbac.authorization.k8s.io/clusterroles:clawbench-worker'],
  ])('may %s %s', async (verb, resource) => {
    expect(await may(CONTROLLER, verb, resource, 'other')).toBe(true);
  });

  it.each([
    ['list', 'core/secrets'],
    ['watch', 'core/secrets'],
    ['update', 'core/pods'],
    ['create', 'core/pods/exec'],
    ['update', 'core/configmaps'],
    ['create', 'clawbench.dev/benchmarkruns'],
    ['create', 'rbac.authorization.k8s.io/clusterroles'],
    ['escalate', 'rbac.authorization.k8s.io/clusterroles:clawbench-worker'],
    ['bind', 'rbac.authorization.k8s.io/clusterroles:cluster-admin'],
    ['get', 'core/nodes'],
    ['update', 'coordination.k8s.io/leases'],
  ])('may not %s %s', async (verb, resource) => {
    expect(await may(CONTROLLER, verb, resource, 'other')).toBe(false);
  });

  it('renews its lease where it runs', async () => {
    expect(await may(CONTROLLER, 'update', 'coordination.k8s.io/leases', 'system')).toBe(true);
  });

  it('can bind the role of workers and no other', async () => {
    const path = '/apis/rbac.authorization.k8s.io/v1/namespaces/other/rolebindings';
    const { status, body } = await api.call('POST', path, workerBinding('cluster-admin', 'more'), {
      as: CONTROLLER,
    });
    expect(status).toBe(403);
    expect(body.message).toContain('attempting to grant RBAC permissions not currently held');
    await created(path, workerBinding(), CONTROLLER);
  });

  it('of one namespace has no rights in another', async () => {
    expect(await may(TEAM_CONTROLLER, 'create', 'core/pods', 'team')).toBe(true);
    expect(await may(TEAM_CONTROLLER, 'create', 'core/pods', 'runs')).toBe(false);
    expect(await may(TEAM_CONTROLLER, 'watch', 'clawbench.dev/benchmarkruns', 'runs')).toBe(false);
    const path = '/apis/rbac.authorization.k8s.io/v1/namespaces/team/rolebindings';
    await created(path, workerBinding('clawbench-worker', 'clawbench-worker', 'Role'), TEAM_CONTROLLER);
  });
});

describe('a worker', () => {
  it('may read its run and write its index, in its namespace only', async () => {
    expect(await may(WORKER, 'get', 'clawbench.dev/benchmarkruns', 'runs')).toBe(true);
    expect(await may(WORKER, 'list', 'clawbench.dev/trials', 'runs')).toBe(true);
    expect(await may(WORKER, 'create', 'core/configmaps', 'runs')).toBe(true);
    expect(await may(WORKER, 'get', 'clawbench.dev/benchmarkruns', 'system')).toBe(false);
    for (const [verb, resource] of [
      ['get', 'core/secrets'],
      ['create', 'core/pods'],
      ['list', 'core/configmaps'],
      ['update', 'core/configmaps'],
      ['patch', 'clawbench.dev/benchmarkruns'],
      ['patch', 'clawbench.dev/trials'],
      ['create', 'clawbench.dev/trials'],
    ] as const) {
      expect(await may(WORKER, verb, resource, 'runs'), `${verb} ${resource}`).toBe(false);
    }
  });

  it('may score a trial that has ended, and score it again', async () => {
    const trial = await trialOf({ phase: 'Executed', execution: 'success', decidedBy: 1 });
    const first = { phase: 'Scored', outcome: 'pass', score: 0.9, scoredRevision: 1, reason: null };
    const again = {
      phase: 'Scored',
      outcome: 'threshold_miss',
      score: 0.4,
      scoredRevision: 2,
      reason: 'Low',
    };
    for (const status of [first, again]) {
      const answer = await api.merge(`${trial}/status`, { status }, { as: WORKER });
      expect(answer.body.message).toBeUndefined();
      expect(answer.status).toBe(200);
    }
  });

  it('may call a trial that could not be graded a scoring error, and take that back', async () => {
    const trial = await trialOf({ phase: 'Executed' });
    const patches = [
      { phase: 'Scored', class: 'scoring', outcome: 'execution_failure', reason: 'CheckerTimeout' },
      { phase: 'Scored', class: null, outcome: 'pass', score: 1, reason: null },
    ];
    for (const status of patches) {
      const answer = await api.merge(`${trial}/status`, { status }, { as: WORKER });
      expect(answer.body.message).toBeUndefined();
    }
  });

  it.each([
    ['its phase otherwise', { phase: 'Running' }, 'may set phase to Scored only'],
    ['its class otherwise', { phase: 'Scored', class: 'provider' }, 'may set class to scoring only'],
    [
      'its attempts',
      { phase: 'Scored', attempts: [] },
      'may change only outcome, score, scoredRevision, phase',
    ],
    ['its execution', { phase: 'Scored', execution: 'timeout' }, "everything else is the controller's"],
    ['what it did not have', { phase: 'Scored', notBefore: 'x' }, "everything else is the controller's"],
    ['what it had', { phase: 'Scored', decidedBy: null }, "everything else is the controller's"],
  ])('may not change of a trial %s', async (_, status, sentence) => {
    const attempt = { number: 1, podName: 'p', podUID: 'u', startedAt: 's', counted: true };
    const trial = await trialOf({
      phase: 'Executed',
      execution: 'success',
      decidedBy: 1,
      attempts: [attempt],
    });
    const answer = await api.merge(`${trial}/status`, { status }, { as: WORKER });
    expect(answer.status).toBe(422);
    expect(answer.body.message).toContain(sentence);
  });

  it('may not score a trial that has not ended', async () => {
    const trial = await trialOf({ phase: 'Running' });
    const status = { phase: 'Scored', outcome: 'pass', score: 1 };
    const answer = await api.merge(`${trial}/status`, { status }, { as: WORKER });
    expect(answer.status).toBe(422);
    expect(answer.body.message).toContain('its phase must be Executed or Scored');
  });

  it("may write a run's scores and report, and nothing else of it", async () => {
    const run = await runOf();
    await api.merge(`${run}/status`, { status: { phase: 'Scoring' } });
    const rate = { weighted: 1, unweighted: 1 };
    const scores = {
      ...{ overall: 1, overall_covered: 1, capability: 1, final: 1, dimensions: {} },
      ...{ pass_at_1: rate, pass_any: rate, strict: rate },
    };
    const written = await api.merge(
      `${run}/status`,
      { status: { scores, reportPath: 'uid/report' } },
      { as: WORKER },
    );
    expect(written.body.message).toBeUndefined();
    for (const status of [{ phase: 'Completed' }, { claimName: 'x' }, { phase: null }]) {
      const answer = await api.merge(`${run}/status`, { status }, { as: WORKER });
      expect(answer.status).toBe(422);
      expect(answer.body.message).toContain("may change only scores and reportPath of a run's status");
    }
  });

  it('is the only one whom this binds', async () => {
    const trial = await trialOf({ phase: 'Executed' });
    const status = { phase: 'Backoff', notBefore: 'x' };
    const answer = await api.merge(`${trial}/status`, { status }, { as: CONTROLLER });
    expect(answer.body.message).toBeUndefined();
  });
});

describe('the release of an uninstallation', () => {
  it('has no rights before and after it', async () => {
    expect(await may(RELEASE, 'patch', 'clawbench.dev/benchmarkruns', 'runs')).toBe(false);
  });
});
