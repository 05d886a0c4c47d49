import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { InvalidInputError } from '../../../src/api/errors.ts';
import { KubeClient } from '../../../src/kube/client.ts';
import { type ConfigSource, loadClusterAccess } from '../../../src/kube/config.ts';
import { isUnreachable } from '../../../src/kube/errors.ts';
import { PODS } from '../../../src/kube/resource.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { LoopbackServer, sendJson, sendStatus } from '../../support/loopback-server.ts';

let folder: string;
let kubeconfig: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'clawbench-kubeconfig-'));
  kubeconfig = join(folder, 'config');
  vi.stubEnv('HOME', folder);
  vi.stubEnv('KUBECONFIG', '');
  vi.stubEnv('KUBERNETES_SERVICE_HOST', '');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

async function write(user: object, server = 'http://127.0.0.1:1'): Promise<void> {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'one',
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user }],
    contexts: [
      { name: 'one', context: { cluster: 'c', user: 'u', namespace: 'team-a' } },
      { name: 'two', context: { cluster: 'c', user: 'u' } },
    ],
  };
  await writeFile(kubeconfig, JSON.stringify(config));
}
const tokenOf = async (access: Awaited<ReturnType<typeof loadClusterAccess>>) =>
  (await access.credentials()).headers['Authorization'];
const failure = (source: ConfigSource): Promise<unknown> =>
  loadClusterAccess(source).then(
    () => 'no failure',
    (thrown: unknown) => thrown,
  );

describe('loadClusterAccess', () => {
  it('takes server, namespace and token of the current context, or of the one that is named', async () => {
    await write({ token: 't1' }, 'https://10.0.0.1:6443/');
    const one = await loadClusterAccess({ kubeconfig });
    expect([one.server, one.namespace, await tokenOf(one)]).toEqual([
      'https://10.0.0.1:6443',
      'team-a',
      'Bearer t1',
    ]);
    expect((await loadClusterAccess({ kubeconfig, context: 'two' })).namespace).toBe('default');
  });

  it('finds the kubeconfig of the environment', async () => {
    await write({ token: 't1' });
    vi.stubEnv('KUBECONFIG', kubeconfig);
    expect(await tokenOf(await loadClusterAccess())).toBe('Bearer t1');
  });

  it('sends a user name and password', async () => {
    await write({ username: 'me', password: 'pw' });
    const expected = `Basic ${Buffer.from('me:pw').toString('base64')}`;
    expect(await tokenOf(await loadClusterAccess({ kubeconfig }))).toBe(expected);
  });

  it('says which contexts there are where the named one is not', async () => {
    await write({});
    const error = await failure({ kubeconfig, context: 'three' });
    expect(error).toBeInstanceOf(InvalidInputError);
    expect(String(error)).toContain('one, two');
  });

  it('takes a kubeconfig that was named and is missing or broken for wrong input', async () => {
    expect(await failure({ kubeconfig: join(folder, 'none') })).toBeInstanceOf(InvalidInputError);
    for (const text of ['clusters: [', 'clusters: [{name: c}]', '', '[]']) {
      await writeFile(kubeconfig, text);
      expect(await failure({ kubeconfig }), text).not.toBe('no failure');
      expect(await failure({ kubeconfig }), text).not.toBeInstanceOf(TypeError);
    }
  });

  it('takes an environment without a cluster for one that cannot be reached', async () => {
    expect(await failure({})).toSatisfy(isUnreachable);
    vi.stubEnv('KUBECONFIG', join(folder, 'none'));
    expect(await failure({})).toSatisfy(isUnreachable);
    expect(await failure({ inCluster: true })).toSatisfy(isUnreachable);
  });
});

describe('tokens in files', () => {
  const tokenFile = () => join(folder, 'token');
  const user = () => ({ 'auth-provider': { name: 'tokenFile', config: { tokenFile: tokenFile() } } });

  it('are read again every 60 seconds, not before', async () => {
    await write(user());
    await writeFile(tokenFile(), 't1\n');
    const clock = new FakeClock();
    const access = await loadClusterAccess({ kubeconfig }, clock);
    expect(await tokenOf(access)).toBe('Bearer t1');
    await writeFile(tokenFile(), 't2\n');
    await clock.advance(59_000);
    expect(await tokenOf(access)).toBe('Bearer t1');
    await clock.advance(1000);
    expect(await tokenOf(access)).toBe('Bearer t2');
  });

  it('are read as kubeconfigs name them too', async () => {
    await write({ tokenFile: tokenFile() });
    await writeFile(tokenFile(), 't1');
    expect(await tokenOf(await loadClusterAccess({ kubeconfig }))).toBe('Bearer t1');
  });

  it('are read again at once when the server refuses one, by all requests together', async () => {
    let valid = 't1';
    const server = await LoopbackServer.start((request, response) => {
      if (request.headers.authorization === `Bearer ${valid}`)
        sendJson(response, 200, { metadata: {}, items: [] });
      else sendStatus(response, 401, 'Unauthorized');
    });
    await write(user(), server.url);
    await writeFile(tokenFile(), 't1');
    const client = new KubeClient(await loadClusterAccess({ kubeconfig }), { fieldManager: 'tester' });
    await client.list(PODS);
    valid = 't2';
    await writeFile(tokenFile(), 't2');
    await Promise.all([client.list(PODS), client.list(PODS), client.list(PODS)]);
    await client.close();
    await server.close();
  });

  it('that are missing are told as a cluster that cannot be reached', async () => {
    await write(user());
    const access = await loadClusterAccess({ kubeconfig });
    await expect(access.credentials()).rejects.toSatisfy(isUnreachable);
  });
});
