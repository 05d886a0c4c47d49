import { afterEach, describe, expect, it } from 'vitest';
import { KubeClient } from '../../../src/kube/client.ts';
import { staticAccess } from '../../../src/kube/config.ts';
import { ensureChild } from '../../../src/kube/ensure-child.ts';
import { isAlreadyExists, isNamespaceTerminating, NotOurChildError } from '../../../src/kube/errors.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { CONFIG_MAPS } from '../../../src/kube/resource.ts';
import { type Answerer, LoopbackServer, sendJson, sendStatus } from '../../support/loopback-server.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const owner: KubeObject = {
  apiVersion: 'clawbench.dev/v1alpha1',
  kind: 'BenchmarkRun',
  metadata: { namespace: 'n', name: 'run', uid: 'mine', resourceVersion: '1', creationTimestamp: 'T' },
};
const ensure = async (answer: Answerer) => {
  const server = await LoopbackServer.start(answer);
  const client = new KubeClient(staticAccess(server.url), { fieldManager: 'tester' });
  cleanups.push(
    () => server.close(),
    () => client.close(),
  );
  const child = ensureChild(client, CONFIG_MAPS, owner, { metadata: { name: 'child' } });
  return { server, child };
};
/** A server on which the name is taken by `existing`, or by nothing any more. */
const taken =
  (existing: object | null): Answerer =>
  (request, response) => {
    if (request.method === 'POST') sendStatus(response, 409, 'AlreadyExists');
    else if (existing === null) sendStatus(response, 404, 'NotFound');
    else sendJson(response, 200, { kind: 'ConfigMap', metadata: { name: 'child', ...existing } });
  };

describe('ensureChild', () => {
  it('creates the child in the namespace of its owner, controlled by it', async () => {
    const { child } = await ensure((request, response) => sendJson(response, 201, JSON.parse(request.body)));
    expect(await child).toMatchObject({
      outcome: 'created',
      object: {
        metadata: {
          namespace: 'n',
          name: 'child',
          ownerReferences: [{ kind: 'BenchmarkRun', name: 'run', uid: 'mine', controller: true }],
        },
      },
    });
  });

  it('adopts the child of an earlier pass', async () => {
    const { child } = await ensure(taken({ ownerReferences: [{ uid: 'mine', controller: true }] }));
    expect((await child).outcome).toBe('existing');
  });

  it('says of its own child that it is on its way out', async () => {
    const ownerReferences = [{ uid: 'mine', controller: true }];
    const { child } = await ensure(taken({ ownerReferences, deletionTimestamp: 'T' }));
    expect((await child).outcome).toBe('terminating');
  });

  it.each<[string, object]>([
    ['an earlier owner of the same name', { ownerReferences: [{ uid: 'older', controller: true }] }],
    ['nobody', {}],
    ['us, but not as our child', { ownerReferences: [{ uid: 'mine', controller: false }] }],
  ])('refuses a child of %s', async (_, existing) => {
    const { child } = await ensure(taken(existing));
    await expect(child).rejects.toBeInstanceOf(NotOurChildError);
  });

  it('creates once more when the other one vanished in between, and not for ever', async () => {
    const { server, child } = await ensure(taken(null));
    await expect(child).rejects.toSatisfy(isAlreadyExists);
    expect(server.requests.map(({ method }) => method)).toEqual(['POST', 'GET', 'POST', 'GET']);
  });

  it('hands on every other refusal', async () => {
    const details = { causes: [{ reason: 'NamespaceTerminating' }] };
    const { child } = await ensure((_, response) => sendStatus(response, 403, 'Forbidden', {}, { details }));
    await expect(child).rejects.toSatisfy(isNamespaceTerminating);
  });
});
