import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stopDeployment } from '../../../src/controller/main/stop-deployment.ts';
import { KubeClient } from '../../../src/kube/client.ts';
import { loadClusterAccess } from '../../../src/kube/config.ts';
import { DEPLOYMENTS, PODS } from '../../../src/kube/resource.ts';
import { startApiServer, type TestApiServer } from '../../support/api-server.ts';

let server: TestApiServer;
let client: KubeClient;

beforeAll(async () => {
  server = await startApiServer({ controllerManager: true });
  const access = await loadClusterAccess({ kubeconfig: server.kubeconfigPath });
  client = new KubeClient(access, { fieldManager: 'test' });
});
afterAll(async () => {
  await client.close();
  await server.stop();
});

it('is back only when no pod of the Deployment is left', async () => {
  const ref = { namespace: 'default', name: 'controller' };
  const labels = { app: 'controller' };
  await client.create(DEPLOYMENTS, {
    metadata: ref,
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'none' }] } },
    },
  });
  const pods = async () => (await client.list(PODS, { namespace: 'default' })).items.length;
  await expect.poll(pods, { timeout: 30_000 }).toBe(2);
  await expect
    .poll(async () => (await client.get(DEPLOYMENTS, ref)).status?.replicas, { timeout: 30_000 })
    .toBe(2);

  await stopDeployment(client, ref, setTimeout);

  expect(await pods()).toBe(0);
  expect((await client.get(DEPLOYMENTS, ref)).spec?.replicas).toBe(0);
});

it('has nothing to do where the Deployment is gone', async () => {
  const ref = { namespace: 'default', name: 'gone' };
  await expect(stopDeployment(client, ref, setTimeout)).resolves.toBeUndefined();
});
