import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { API_VERSION } from '../../../src/api/benchmark-run.ts';
import { startApiServer, type TestApiServer } from '../../support/api-server.ts';
import { CHART, Helm } from '../../support/helm.ts';
import { RawApi, serviceAccount } from '../../support/raw-api.ts';

const CRD = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/benchmarkruns.clawbench.dev';
const RUNS = `/apis/${API_VERSION}/namespaces/default/benchmarkruns`;
const JOBS = '/apis/batch/v1/namespaces/system/jobs';
const NAME = 'clawbench-clawbench-operator';

let server: TestApiServer;
let api: RawApi;
let helm: Helm;
let folder: string;

beforeAll(async () => {
  [helm, server, folder] = await Promise.all([
    Helm.start(),
    startApiServer(),
    mkdtemp(join(tmpdir(), 'clawbench-chart-')),
  ]);
  api = new RawApi(server);
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await helm.stop();
  await api.close();
  await server.stop();
});

/** The chart one version on, whose BenchmarkRun has a field more. */
async function nextChart(): Promise<string> {
  const chart = join(folder, 'next');
  await cp(CHART, chart, { recursive: true });
  await replace(join(chart, 'Chart.yaml'), /^version: .*$/m, 'version: 99.0.0');
  await replace(
    join(chart, 'files/crds/clawbench.dev_benchmarkruns.yaml'),
    /^( +)trialsPerScenario:$/m,
    '$1later: { type: string, maxLength: 5, default: soon }\n$1trialsPerScenario:',
  );
  const said = await helm.run(['package', chart, '-d', folder]);
  expect(said).toContain('clawbench-operator-99.0.0.tgz');
  return join(folder, 'clawbench-operator-99.0.0.tgz');
}

async function replace(path: string, pattern: RegExp, text: string): Promise<void> {
  const before = await readFile(path, 'utf8');
  expect(before).toMatch(pattern);
  await writeFile(path, before.replace(pattern, text));
}

/** Waits for the Job of the hook; its rights exist by then. */
async function hookJob(): Promise<unknown> {
  const end = performance.now() + 30_000;
  for (;;) {
    const { status, body } = await api.call('GET', `${JOBS}/${NAME}-release`);
    if (status === 200) return body.spec;
    if (performance.now() > end) throw new Error('the hook made no Job');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Nothing runs pods here, so the Job of the hook is ended as its controller would end it. */
async function endHookJob(): Promise<void> {
  const at = new Date().toISOString();
  const condition = (type: string) => ({ type, status: 'True', lastTransitionTime: at });
  const ended = await api.merge(`${JOBS}/${NAME}-release/status`, {
    status: {
      ...{ startTime: at, completionTime: at, succeeded: 1 },
      ...{ uncountedTerminatedPods: {}, ready: 0, terminating: 0 },
      conditions: [condition('SuccessCriteriaMet'), condition('Complete')],
    },
  });
  expect(ended.body.message).toBeUndefined();
}

it('installs, upgrades its CRDs, and leaves them and every run when it goes', async () => {
  const config = server.kubeconfigPath;
  const inSystem = ['-n', 'system'];
  const said = await helm.run(['install', 'clawbench', CHART, ...inSystem, '--create-namespace'], config);
  expect(said).toContain(`rollout status deployment/${NAME}`);
  expect(said).toContain('kubectl get brun -w');

  const run = {
    ...{ apiVersion: API_VERSION, kind: 'BenchmarkRun', metadata: { name: 'kept' } },
    spec: { suite: { builtin: {} }, runtime: { id: 'scripted' } },
  };
  const first = await api.call('POST', RUNS, run);
  expect(first.status).toBe(201);
  expect(first.body.spec?.['later']).toBeUndefined();

  await helm.run(['upgrade', 'clawbench', await nextChart(), ...inSystem, '--set', 'replicas=3'], config);
  await expect
    .poll(async () => (await api.call('POST', RUNS, { ...run, metadata: { name: 'second' } })).body.spec, {
      timeout: 10_000,
    })
    .toMatchObject({ later: 'soon' });

  const release = serviceAccount('system', `${NAME}-release`);
  const uninstalled = helm.run(['uninstall', 'clawbench', ...inSystem], config);
  const failed = uninstalled.then(() => new Error('the uninstallation waited for no Job'));
  const job = await Promise.race([hookJob(), failed]);
  expect(JSON.stringify(job)).toContain(
    '"controller","--config","/etc/clawbench/config.json","--release-finalizers"',
  );
  expect(job).toMatchObject({ activeDeadlineSeconds: 120 });

  // While the hook runs its account may do what it is for, and no more.
  const as = release;
  const deployment = `/apis/apps/v1/namespaces/system/deployments/${NAME}`;
  expect((await api.merge(`${deployment}/scale`, { spec: { replicas: 0 } }, { as })).status).toBe(200);
  expect((await api.call('GET', `/apis/${API_VERSION}/benchmarkruns`, undefined, { as })).status).toBe(200);
  expect((await api.merge(`${RUNS}/kept`, { metadata: { finalizers: [] } }, { as })).status).toBe(200);
  expect((await api.merge(`${RUNS}/kept/status`, { status: { phase: 'Failed' } }, { as })).status).toBe(403);
  expect((await api.call('DELETE', `${RUNS}/kept`, undefined, { as })).status).toBe(403);
  const secrets = await api.call('GET', '/api/v1/namespaces/system/secrets', undefined, { as });
  expect(secrets.status).toBe(403);
  await endHookJob();
  await uninstalled;

  expect((await api.call('GET', deployment)).status).toBe(404);
  expect((await api.call('GET', RUNS, undefined, { as })).status).toBe(403);
  expect((await api.call('GET', CRD)).status).toBe(200);
  expect((await api.call('GET', `${RUNS}/kept`)).body.metadata).toMatchObject({ name: 'kept' });

  // What was left is taken up again.
  await helm.run(['install', 'clawbench', CHART, ...inSystem], config);
}, 180_000);
