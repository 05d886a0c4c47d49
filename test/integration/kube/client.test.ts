import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KubeClient } from '../../../src/kube/client.ts';
import { loadClusterAccess } from '../../../src/kube/config.ts';
import { ensureChild } from '../../../src/kube/ensure-child.ts';
import {
  isAlreadyExists,
  isConflict,
  isGone,
  isInvalid,
  isNotFound,
  isUnauthorized,
  isUnreachable,
  NotOurChildError,
} from '../../../src/kube/errors.ts';
import { EventRecorder } from '../../../src/kube/events.ts';
import { LeaderElector } from '../../../src/kube/leader-election.ts';
import type { ConfigMap } from '../../../src/kube/object.ts';
import { Reflector } from '../../../src/kube/reflector.ts';
import { CONFIG_MAPS, EVENTS, LEASES, NAMESPACES, PODS } from '../../../src/kube/resource.ts';
import { type TestApiServer, startApiServer } from '../../support/api-server.ts';
import { until } from '../../support/fake-clock.ts';

let server: TestApiServer;
let client: KubeClient;
const clients: KubeClient[] = [];

async function connect(fieldManager: string): Promise<KubeClient> {
  const made = new KubeClient(await loadClusterAccess({ kubeconfig: server.kubeconfigPath }), {
    fieldManager,
  });
  clients.push(made);
  return made;
}

async function namespace(name: string): Promise<string> {
  await client.create(NAMESPACES, { metadata: { name } });
  return name;
}

beforeAll(async () => {
  server = await startApiServer();
  client = await connect('tester');
}, 600_000);

afterAll(async () => {
  await Promise.all(clients.map((each) => each.close()));
  await server.stop();
});

describe('a client of a real API server', () => {
  it('creates, reads, patches by every strategy, replaces and deletes', async () => {
    const ns = await namespace('verbs');
    const ref = { namespace: ns, name: 'c' };
    const created = await client.create(CONFIG_MAPS, { metadata: ref, data: { a: '1' } });
    expect(created).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' } });
    expect(typeof created.metadata.creationTimestamp).toBe('string');
    await expect(client.create(CONFIG_MAPS, { metadata: ref })).rejects.toSatisfy(isAlreadyExists);

    await client.patch(CONFIG_MAPS, ref, { type: 'merge', body: { data: { b: '2' } } });
    await client.patch(CONFIG_MAPS, ref, {
      type: 'json',
      body: [{ op: 'add', path: '/data/c', value: '3' }],
    });
    await client.patch(CONFIG_MAPS, ref, { type: 'strategic', body: { data: { d: '4' } } });
    const dry = await client.patch(
      CONFIG_MAPS,
      ref,
      { type: 'merge', body: { data: { dry: 'x' } } },
      { dryRun: true },
    );
    expect(dry.data).toHaveProperty('dry');
    const current = await client.get(CONFIG_MAPS, ref);
    expect(current.data).toEqual({ a: '1', b: '2', c: '3', d: '4' });
    const managers = (current.metadata as unknown as { managedFields: { manager: string }[] }).managedFields;
    expect(new Set(managers.map(({ manager }) => manager))).toEqual(new Set(['tester']));

    const stale = { metadata: { resourceVersion: created.metadata.resourceVersion }, data: { a: 'stale' } };
    await expect(client.patch(CONFIG_MAPS, ref, { type: 'merge', body: stale })).rejects.toSatisfy(
      isConflict,
    );
    await expect(client.replace(CONFIG_MAPS, created)).rejects.toSatisfy(isConflict);
    await client.replace(CONFIG_MAPS, { ...current, data: { e: '5' } });

    await expect(client.delete(CONFIG_MAPS, ref, { uid: 'another' })).rejects.toSatisfy(isConflict);
    await client.delete(CONFIG_MAPS, ref, { uid: created.metadata.uid });
    expect(await client.find(CONFIG_MAPS, ref)).toBeNull();
    await expect(client.delete(CONFIG_MAPS, ref)).rejects.toSatisfy(isNotFound);
  });

  it('applies server-side: fields of two managers stand side by side, a conflict is told, force takes', async () => {
    const ns = await namespace('apply');
    const other = await connect('other');
    const ref = { namespace: ns, name: 'c' };
    await client.patch(CONFIG_MAPS, ref, { type: 'apply', body: { data: { mine: '1', both: 'm' } } });
    const theirs = { data: { theirs: '2', both: 't' } };
    await expect(other.patch(CONFIG_MAPS, ref, { type: 'apply', body: theirs })).rejects.toSatisfy(
      isConflict,
    );
    const forced = await other.patch(CONFIG_MAPS, ref, { type: 'apply', body: theirs, force: true });
    expect(forced.data).toEqual({ mine: '1', theirs: '2', both: 't' });
  });

  it('pages of one moment hold what was there then', async () => {
    const ns = await namespace('pages');
    for (let i = 0; i < 7; i += 1)
      await client.create(CONFIG_MAPS, {
        metadata: { namespace: ns, name: `c${i}`, labels: { odd: String(i % 2) } },
      });
    const sizes: number[] = [];
    for await (const page of client.pages(CONFIG_MAPS, { namespace: ns, limit: 3 })) {
      sizes.push(page.items.length);
      if (sizes.length === 1) await client.delete(CONFIG_MAPS, { namespace: ns, name: 'c6' });
    }
    expect(sizes).toEqual([3, 3, 1]);
    const { items } = await client.list(CONFIG_MAPS, { namespace: ns, labelSelector: 'odd=1' });
    expect(items.map((item) => [item.kind, item.metadata.name])).toEqual(
      [1, 3, 5].map((i) => ['ConfigMap', `c${i}`]),
    );
    await client.deleteCollection(CONFIG_MAPS, { namespace: ns, labelSelector: 'odd=1' });
    expect((await client.list(CONFIG_MAPS, { namespace: ns })).items).toHaveLength(3);
    await expect(client.list(CONFIG_MAPS, { namespace: ns, resourceVersion: 'nonsense' })).rejects.toThrow();
  });

  it('tells wrong objects and wrong credentials apart', async () => {
    const ns = await namespace('wrong');
    const bad = { metadata: { namespace: ns, name: 'p' }, spec: { containers: [] } };
    await expect(client.create(PODS, bad)).rejects.toSatisfy(isInvalid);
    const stranger = new KubeClient(
      await loadClusterAccess({ kubeconfig: await server.kubeconfigFor('x', 'no-such-token') }),
      { fieldManager: 'x' },
    );
    clients.push(stranger);
    await expect(stranger.list(PODS)).rejects.toSatisfy(isUnauthorized);
  });

  it('adopts its own children, and never those of an older owner of the same name', async () => {
    const ns = await namespace('children');
    const ownerRef = { namespace: ns, name: 'owner' };
    const first = await client.create(CONFIG_MAPS, { metadata: ownerRef });
    const child = { metadata: { name: 'child' }, data: { a: '1' } };
    const made = await ensureChild<ConfigMap>(client, CONFIG_MAPS, first, child);
    expect(made.outcome).toBe('created');
    const again = await ensureChild<ConfigMap>(client, CONFIG_MAPS, first, child);
    expect([again.outcome, again.object.metadata.uid]).toEqual(['existing', made.object.metadata.uid]);
    await client.delete(CONFIG_MAPS, ownerRef);
    const second = await client.create(CONFIG_MAPS, { metadata: ownerRef });
    await expect(ensureChild<ConfigMap>(client, CONFIG_MAPS, second, child)).rejects.toBeInstanceOf(
      NotOurChildError,
    );
  });

  it('records Events that the server takes, and counts repetitions', async () => {
    const ns = await namespace('events');
    const regarding = await client.create(CONFIG_MAPS, { metadata: { namespace: ns, name: 'c' } });
    const failures: unknown[] = [];
    const events = new EventRecorder({
      client,
      reportingController: 'clawbench.dev/controller',
      reportingInstance: 'tester-0',
      onDropped: (_, error) => failures.push(error),
    });
    const text = {
      type: 'Warning',
      reason: 'PodLost',
      action: 'Reconcile',
      note: 'the pod is gone',
    } as const;
    for (let i = 0; i < 5; i += 1) events.record(regarding, text);
    events.record(regarding, { ...text, type: 'Normal', reason: 'Long', note: 'ü'.repeat(3000) });
    await events.flush();
    events.record(regarding, text);
    await events.flush();
    expect(failures).toEqual([]);
    const { items } = await client.list(EVENTS, { namespace: ns });
    expect(items.map(({ reason, series }) => [reason, series?.count]).sort()).toEqual([
      ['Long', undefined],
      ['PodLost', 6],
    ]);
  });
});

describe('a reflector under an API server that is killed', () => {
  it('comes back with the state of the server, misses nothing and tells nothing twice', async () => {
    const ns = await namespace('reflected');
    const errors: unknown[] = [];
    const log: string[] = [];
    const reflector = new Reflector<ConfigMap>({
      client,
      resource: CONFIG_MAPS,
      selection: { namespace: ns },
      indexers: {},
      timing: { backoffBaseMs: 50, backoffCapMs: 500 },
      onError: (error) => errors.push(error),
    });
    reflector.addHandler(({ type, key }) => log.push(`${type} ${key.split('/')[1]}`));
    const stop = new AbortController();
    const running = reflector.run(stop.signal);
    await reflector.synced;
    const create = (name: string) => client.create(CONFIG_MAPS, { metadata: { namespace: ns, name } });
    for (const name of ['a', 'b', 'c']) await create(name);
    await until(() => reflector.store.size === 3, 'three objects');

    await server.kill();
    await expect(client.get(CONFIG_MAPS, { namespace: ns, name: 'a' })).rejects.toSatisfy(isUnreachable);
    await until(() => errors.length > 2, 'failures');
    await server.restart();
    // What the reflector meets when its watch was older than the new server's memory.
    const old = async () => {
      const options = { resourceVersion: '1', timeoutSeconds: 5, idleMs: 10_000, signal: stop.signal };
      for await (const event of client.watch(CONFIG_MAPS, options)) expect(event.type).toBe('none');
    };
    await expect(old()).rejects.toSatisfy(isGone);
    await client.delete(CONFIG_MAPS, { namespace: ns, name: 'a' });
    await client.delete(CONFIG_MAPS, { namespace: ns, name: 'b' });
    await create('b');
    await create('d');
    const uidOfB = (await client.get(CONFIG_MAPS, { namespace: ns, name: 'b' })).metadata.uid;
    await until(
      () => reflector.store.get(`${ns}/d`) !== undefined && reflector.store.get(`${ns}/a`) === undefined,
      'the state',
      30_000,
    );
    expect(reflector.store.get(`${ns}/b`)?.metadata.uid).toBe(uidOfB);
    expect(log.toSorted()).toEqual(['add a', 'add b', 'add b', 'add c', 'add d', 'delete a', 'delete b']);
    stop.abort();
    await running;
  });
});

describe('two candidates for a real Lease', () => {
  const timing = { leaseSeconds: 3, renewDeadlineSeconds: 2, retrySeconds: 0.5 };

  it('never lead at once: over a stop, and over a server that is away', async () => {
    const ns = await namespace('election');
    const lease = { namespace: ns, name: 'controller' };
    const leading = new Set<string>();
    let both = false;
    const candidate = async (identity: string) => {
      const own = await connect(identity);
      const abort = new AbortController();
      const elector = new LeaderElector({
        client: own,
        lease,
        identity,
        timing,
        onStartedLeading: async (signal) => {
          leading.add(identity);
          both ||= leading.size > 1;
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
          leading.delete(identity);
        },
      });
      return { elector, abort, ended: elector.run(abort.signal) };
    };
    const a = await candidate('a');
    await until(() => a.elector.isLeader, 'a leads');
    const b = await candidate('b');
    await setTimeout(4000);
    expect([...leading]).toEqual(['a']);

    a.abort.abort();
    expect(await a.ended).toBe('stopped');
    await until(() => b.elector.isLeader, 'b leads', 2000);
    expect((await client.get(LEASES, lease)).spec).toMatchObject({
      holderIdentity: 'b',
      leaseTransitions: 1,
    });

    const c = await candidate('c');
    await server.kill();
    expect(await b.ended).toBe('lost');
    expect(leading.size).toBe(0);
    await server.restart();
    await until(() => c.elector.isLeader, 'c leads', 20_000);
    expect(both).toBe(false);
    c.abort.abort();
    expect(await c.ended).toBe('stopped');
  });
});
