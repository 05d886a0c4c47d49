import { afterEach, describe, expect, it } from 'vitest';
import { KubeClient, type KubeClientOptions } from '../../../src/kube/client.ts';
import { type ClusterAccess, type Credentials, staticAccess } from '../../../src/kube/config.ts';
import { isForbidden, isGone, isTooManyRequests, isUnreachable } from '../../../src/kube/errors.ts';
import { CONFIG_MAPS, NODES, PODS, TRIALS } from '../../../src/kube/resource.ts';
import type { RequestReport } from '../../../src/kube/transport.ts';
import { RecordingClock } from '../../support/fake-clock.ts';
import { type Answerer, LoopbackServer, sendJson, sendStatus } from '../../support/loopback-server.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serve(
  answer: Answerer,
  options: Partial<KubeClientOptions> = {},
  access?: (url: string) => ClusterAccess,
): Promise<{ server: LoopbackServer; client: KubeClient; clock: RecordingClock }> {
  const server = await LoopbackServer.start(answer);
  const clock = new RecordingClock();
  const client = new KubeClient((access ?? staticAccess)(server.url), {
    fieldManager: 'tester',
    clock,
    ...options,
  });
  cleanups.push(
    () => server.close(),
    () => client.close(),
  );
  return { server, client, clock };
}

const pod = (name: string) => ({
  metadata: { namespace: 'a', name, uid: `u-${name}`, resourceVersion: '1', creationTimestamp: 'T', odd: 1 },
  spec: { containers: [] },
  fieldOfTheFuture: { kept: true },
});
const ref = { namespace: 'a', name: 'p' };

describe('sockets', () => {
  it('sends 20 lists one after the other over one or two connections', async () => {
    const { server, client } = await serve((_, response) =>
      sendJson(response, 200, { metadata: {}, items: [] }),
    );
    for (let i = 0; i < 20; i += 1) await client.list(PODS);
    expect(server.requests).toHaveLength(20);
    // A socket is free again a moment after its answer was read.
    expect(server.accepted).toBeLessThanOrEqual(2);
  });

  it('keeps 100 requests at once within its bound of sockets, beside a watch', async () => {
    const { server, client } = await serve(
      (request, response) => {
        if (request.query.get('watch') === 'true') response.writeHead(200).flushHeaders();
        else setTimeout(() => sendJson(response, 200, pod('p')), 2);
      },
      { maxSockets: 4 },
    );
    const stop = new AbortController();
    const watching = drain(client, stop.signal);
    await Promise.all(Array.from({ length: 100 }, () => client.get(PODS, ref)));
    expect(server.accepted).toBeLessThanOrEqual(5);
    stop.abort();
    await watching;
  });

  it('asks a read again when the server closed the idle connection under it', async () => {
    const { server, client } = await serve((_, response) => sendJson(response, 200, pod('p')));
    await client.get(PODS, ref);
    let cut = false;
    server.answer = (_, response) => {
      if (cut) sendJson(response, 200, pod('p'));
      else response.destroy();
      cut = true;
    };
    expect((await client.get(PODS, ref)).metadata.name).toBe('p');
  });

  it('never sends a write twice by itself after a reset', async () => {
    const { server, client } = await serve((_, response) => void response.destroy());
    await expect(client.create(PODS, pod('p'))).rejects.toSatisfy(isUnreachable);
    expect(server.requests).toHaveLength(1);
  });
});

describe('objects', () => {
  it('stay as they are on the wire: unknown fields kept, times strings, type filled in', async () => {
    const { client } = await serve((_, response) =>
      sendJson(response, 200, { metadata: {}, items: [pod('p')] }),
    );
    expect((await client.list(PODS)).items).toEqual([{ apiVersion: 'v1', kind: 'Pod', ...pod('p') }]);
  });

  it('keep unknown fields on the way back', async () => {
    const { server, client } = await serve((_, response) => sendJson(response, 200, pod('p')));
    const object = await client.get(PODS, ref);
    await client.replace(PODS, object);
    expect(JSON.parse(server.requests[1]!.body)).toEqual(pod('p'));
  });
});

describe('lists', () => {
  const paged: Answerer = (request, response) => {
    const from = Number(request.query.get('continue') ?? '0');
    const limit = Number(request.query.get('limit'));
    const items = Array.from({ length: 7 }, (_, i) => pod(String(i))).slice(from, from + limit);
    const next = from + limit < 7 ? String(from + limit) : '';
    sendJson(response, 200, { metadata: { resourceVersion: '9', continue: next }, items });
  };

  it('are paged, and come whole or page by page', async () => {
    const { server, client } = await serve(paged);
    const list = await client.list(PODS, { limit: 3, labelSelector: 'a=b,c', resourceVersion: '0' });
    expect(list.items.map((item) => item.metadata.name)).toEqual(['0', '1', '2', '3', '4', '5', '6']);
    expect(list.resourceVersion).toBe('9');
    const queries = server.requests.map(({ query }) => [query.get('continue'), query.get('resourceVersion')]);
    // A server refuses a continue token together with a resourceVersion.
    expect(queries).toEqual([
      [null, '0'],
      ['3', null],
      ['6', null],
    ]);
    expect(server.requests.every(({ query }) => query.get('labelSelector') === 'a=b,c')).toBe(true);
    const sizes: number[] = [];
    for await (const page of client.pages(PODS, { limit: 5 })) sizes.push(page.items.length);
    expect(sizes).toEqual([5, 2]);
  });

  it('begin anew once when the pages expire on the way', async () => {
    let expired = 0;
    const { client } = await serve((request, response) => {
      if (request.query.get('continue') === '6' && expired++ === 0) sendStatus(response, 410, 'Expired');
      else void paged(request, response);
    });
    expect((await client.list(PODS, { limit: 3 })).items).toHaveLength(7);
  });

  it('give up when they expire again', async () => {
    const { client } = await serve((_, response) => sendStatus(response, 410, 'Expired'));
    await expect(client.list(PODS)).rejects.toSatisfy(isGone);
  });
});

describe('writes', () => {
  it('name the field manager, and the content type of each patch strategy', async () => {
    const { server, client } = await serve((_, response) => sendJson(response, 200, pod('p')));
    await client.patch(
      TRIALS,
      ref,
      { type: 'merge', body: { metadata: { resourceVersion: '5' } } },
      { subresource: 'status' },
    );
    await client.patch(PODS, ref, { type: 'json', body: [{ op: 'remove', path: '/x' }] });
    await client.patch(PODS, ref, { type: 'strategic', body: {} });
    await client.patch(
      CONFIG_MAPS,
      ref,
      { type: 'apply', body: { data: {} }, force: true },
      { dryRun: true },
    );
    expect(server.requests.map(({ headers }) => headers['content-type'])).toEqual([
      'application/merge-patch+json',
      'application/json-patch+json',
      'application/strategic-merge-patch+json',
      'application/apply-patch+yaml',
    ]);
    const [status, , , apply] = server.requests;
    expect(status!.path).toBe('/apis/clawbench.dev/v1alpha1/namespaces/a/trials/p/status');
    expect(Object.fromEntries(apply!.query)).toEqual({
      fieldManager: 'tester',
      dryRun: 'All',
      force: 'true',
    });
    expect(JSON.parse(apply!.body)).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'a', name: 'p' },
      data: {},
    });
  });

  it('delete exactly the object of a UID', async () => {
    const { server, client } = await serve((_, response) => sendJson(response, 200, {}));
    await client.delete(PODS, ref, { uid: 'u1', gracePeriodSeconds: 0, propagationPolicy: 'Foreground' });
    expect(JSON.parse(server.requests[0]!.body)).toMatchObject({
      preconditions: { uid: 'u1' },
      gracePeriodSeconds: 0,
      propagationPolicy: 'Foreground',
    });
  });

  it('never reach all namespaces for want of one', async () => {
    const { server, client } = await serve((_, response) => sendJson(response, 200, {}));
    await expect(client.deleteCollection(PODS, {})).rejects.toThrow(RangeError);
    await expect(client.create(PODS, { metadata: { name: 'p' } })).rejects.toThrow(RangeError);
    await expect(client.get(PODS, { name: 'p' })).rejects.toThrow(RangeError);
    await expect(client.delete(PODS, { namespace: '..', name: 'x' })).rejects.toThrow(RangeError);
    await expect(client.delete(PODS, { namespace: 'a', name: '' })).rejects.toThrow(RangeError);
    await expect(client.delete(NODES, { name: 'a/b' })).rejects.toThrow(RangeError);
    expect(server.requests).toEqual([]);
  });

  it('are held back by the guard, reads are not', async () => {
    const guardWrite = () => {
      throw new Error('not the leader');
    };
    const { server, client } = await serve((_, response) => sendJson(response, 200, pod('p')), {
      guardWrite,
    });
    await client.get(PODS, ref);
    await expect(client.create(PODS, pod('p'))).rejects.toThrow('not the leader');
    await expect(client.delete(PODS, ref)).rejects.toThrow('not the leader');
    expect(server.requests).toHaveLength(1);
  });
});

describe('Retry-After', () => {
  it.each([429, 503])('is waited for on %i, whatever the verb', async (code) => {
    let refusals = 2;
    const { server, client, clock } = await serve((_, response) => {
      if (refusals-- > 0) sendStatus(response, code, 'Busy', { 'retry-after': '3' });
      else sendJson(response, 201, pod('p'));
    });
    await client.create(PODS, pod('p'));
    expect(server.requests).toHaveLength(3);
    expect(clock.sleptMs).toHaveLength(2);
    expect(clock.sleptMs.every((ms) => ms >= 3000 && ms <= 3600)).toBe(true);
  });

  it('is bounded: in the end the caller learns how long to wait', async () => {
    const { server, client } = await serve((_, response) =>
      sendStatus(response, 429, 'TooManyRequests', { 'retry-after': '1' }),
    );
    const error: unknown = await client.get(PODS, ref).catch((thrown: unknown) => thrown);
    expect(error).toSatisfy(isTooManyRequests);
    expect(error).toMatchObject({ retryAfterSeconds: 1 });
    expect(server.requests).toHaveLength(6);
  });

  it('is not waited for when it asks for more than the bound', async () => {
    const { server, client, clock } = await serve((_, response) =>
      sendStatus(response, 429, 'TooManyRequests', { 'retry-after': '3600' }),
    );
    await expect(client.get(PODS, ref)).rejects.toSatisfy(isTooManyRequests);
    expect([server.requests.length, clock.sleptMs]).toEqual([1, []]);
  });

  it('is not guessed where the server does not ask, nor honoured on a 500', async () => {
    const { server, client } = await serve((_, response) => sendStatus(response, 503, 'ServiceUnavailable'));
    await expect(client.get(PODS, ref)).rejects.toMatchObject({ code: 503 });
    server.answer = (_, response) => sendStatus(response, 500, 'InternalError', { 'retry-after': '1' });
    await expect(client.get(PODS, ref)).rejects.toMatchObject({ code: 500 });
    expect(server.requests).toHaveLength(2);
  });
});

describe('credentials', () => {
  it('are read again once after a 401, and only once', async () => {
    let valid = 'token-2';
    let reads = 0;
    const credentials = (token: string): Credentials => ({
      headers: { Authorization: `Bearer ${token}` },
      tls: {},
    });
    const { server, client } = await serve(
      (request, response) => {
        if (request.headers.authorization === `Bearer ${valid}`) sendJson(response, 200, pod('p'));
        else sendStatus(response, 401, 'Unauthorized');
      },
      {},
      (url) => ({
        ...staticAccess(url),
        credentials: () => Promise.resolve(credentials('token-1')),
        refresh: () => {
          reads += 1;
          return Promise.resolve(credentials('token-2'));
        },
      }),
    );
    await client.create(PODS, pod('p'));
    expect([reads, server.requests.length]).toEqual([1, 2]);
    valid = 'token-3';
    await expect(client.get(PODS, ref)).rejects.toMatchObject({ code: 401 });
    expect([reads, server.requests.length]).toEqual([2, 4]);
  });
});

describe('bounds', () => {
  it('end a request that gets no answer', async () => {
    const { client } = await serve(() => undefined, { requestTimeoutMs: 50 });
    await expect(client.get(PODS, ref)).rejects.toSatisfy(isUnreachable);
  });

  it('end an answer that stops in the middle', async () => {
    const { client } = await serve(
      (_, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('{"kind":');
      },
      { requestTimeoutMs: 50 },
    );
    await expect(client.get(PODS, ref)).rejects.toSatisfy(isUnreachable);
  });

  it('end at once with the reason of the abort, on the wire and while waiting', async () => {
    const { server, client } = await serve(() => undefined);
    const stop = new AbortController();
    const call = client.get(PODS, ref, { signal: stop.signal });
    call.catch(() => undefined);
    while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    stop.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    await expect(client.get(PODS, ref, { signal: stop.signal })).rejects.toThrow('enough');
    expect(server.requests).toHaveLength(1);
  });
});

describe('answers that are none', () => {
  it('name a page of a proxy with its code', async () => {
    const { server, client } = await serve((_, response) => {
      response.writeHead(502).end('<html>Bad Gateway</html>');
    });
    await expect(client.get(PODS, ref)).rejects.toThrow('get pods a/p: <html>Bad Gateway</html> (502)');
    server.answer = (_, response) => void response.writeHead(200).end('<html>Log in here</html>');
    await expect(client.get(PODS, ref)).rejects.toSatisfy(isUnreachable);
  });

  it('tell a refusal with its sentence', async () => {
    const { client } = await serve((_, response) => sendStatus(response, 403, 'Forbidden'));
    await expect(client.list(PODS, { namespace: 'a' })).rejects.toSatisfy(isForbidden);
  });

  it('find gives null for 404 alone', async () => {
    const { server, client } = await serve((_, response) => sendStatus(response, 404, 'NotFound'));
    expect(await client.find(PODS, ref)).toBeNull();
    server.answer = (_, response) => sendStatus(response, 500, 'InternalError');
    await expect(client.find(PODS, ref)).rejects.toMatchObject({ code: 500 });
  });
});

it('reports every request with verb, resource and code', async () => {
  const reports: RequestReport[] = [];
  const { server, client } = await serve(
    (_, response) => sendJson(response, 200, { metadata: {}, items: [] }),
    {
      onRequest: (report) => reports.push(report),
      userAgent: 'tester/1',
    },
  );
  await client.list(PODS);
  await client.patch(TRIALS, ref, { type: 'merge', body: {} }, { subresource: 'status' });
  await server.close();
  await client.get(PODS, ref).catch(() => undefined);
  expect(reports.map(({ verb, resource, code }) => [verb, resource, code])).toEqual([
    ['list', 'pods', '200'],
    ['patch', 'trials/status', '200'],
    ['get', 'pods', 'unreachable'],
    ['get', 'pods', 'unreachable'],
  ]);
  expect(server.requests[0]!.headers['user-agent']).toBe('tester/1');
});

it('speaks to a cluster that a proxy serves below a path', async () => {
  const { server, client } = await serve(
    (_, response) => sendJson(response, 200, pod('p')),
    {},
    (url) => staticAccess(`${url}/k8s/c-1/`),
  );
  await client.get(PODS, ref);
  expect(server.requests[0]!.path).toBe('/k8s/c-1/api/v1/namespaces/a/pods/p');
});

async function drain(client: KubeClient, signal: AbortSignal): Promise<void> {
  try {
    const watch = client.watch(PODS, { resourceVersion: '1', timeoutSeconds: 60, idleMs: 60_000, signal });
    for await (const event of watch) expect(event.type).toBe('BOOKMARK');
  } catch {
    // Aborted by the test.
  }
}
