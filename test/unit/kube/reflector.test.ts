import { afterEach, describe, expect, it } from 'vitest';
import type { ReflectorTiming } from '../../../src/kube/reflector.ts';
import { until } from '../../support/fake-clock.ts';
import type { ModelApi } from '../../support/model-api.ts';
import { type ReflectorHarness, startReflector, stateOf } from './reflector-harness.ts';

let harness: ReflectorHarness | undefined;
afterEach(async () => {
  await harness?.stop();
  harness = undefined;
});

async function start(
  prepare?: (api: ModelApi) => void,
  timing?: Partial<ReflectorTiming>,
  pageSize?: number,
): Promise<ReflectorHarness> {
  harness = await startReflector(prepare, timing, pageSize);
  return harness;
}

const equal = ({ api, reflector }: ReflectorHarness) =>
  JSON.stringify(stateOf(reflector.store.list())) === JSON.stringify(stateOf(api.objects.values()));
const watching = ({ api }: ReflectorHarness) => until(() => api.watchers.size > 0, 'a watch');
const caughtUp = (h: ReflectorHarness) => until(() => equal(h), 'the state of the server');
const told = ({ changes }: ReflectorHarness) =>
  changes.map(({ type, object }) => `${type} ${object.metadata.name} ${object.metadata.uid}`);
const lists = ({ server }: ReflectorHarness) =>
  server.requests.filter(({ query }) => query.get('watch') === null).length;

describe('a reflector', () => {
  it('lists all pages, says that it synced, then follows', async () => {
    const h = await start((api) => ['a', 'b', 'c', 'd', 'e'].forEach((name) => api.put(name)), {}, 2);
    await h.reflector.synced;
    expect(h.reflector.hasSynced).toBe(true);
    expect(h.reflector.store.size).toBe(5);
    expect(lists(h)).toBe(3);
    await watching(h);
    h.api.put('f');
    h.api.remove('a');
    h.api.put('b');
    await caughtUp(h);
    expect(told(h).slice(5)).toEqual(['add f uid-6', 'delete a uid-1', 'update b uid-2']);
    expect(h.errors).toEqual([]);
  });

  it('asks for bookmarks, and for an end at a jittered time', async () => {
    const h = await start(undefined, { watchSeconds: 100 });
    await watching(h);
    const { query } = h.server.requests.at(-1)!;
    expect(query.get('allowWatchBookmarks')).toBe('true');
    const seconds = Number(query.get('timeoutSeconds'));
    expect(seconds).toBeGreaterThanOrEqual(100);
    expect(seconds).toBeLessThanOrEqual(200);
  });

  it('drops managedFields, keeps fields it does not know, and finds by UID and index', async () => {
    const h = await start((api) => api.put('a', { future: { kept: true } }));
    await h.reflector.synced;
    const object = h.reflector.store.get('team-a/a');
    expect(object).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', future: { kept: true } });
    expect(object?.metadata).not.toHaveProperty('managedFields');
    expect(h.reflector.store.getByUid('uid-1')).toBe(object);
    expect(h.reflector.store.byIndex('note', 'grüße 11 😀')).toEqual([object]);
  });

  it.each(['end', 'reset', 'mid-line'] as const)(
    'watches again where it was after a stream that ends by %s',
    async (how) => {
      const h = await start((api) => api.put('a'));
      await watching(h);
      h.api.put('b');
      await caughtUp(h);
      h.api.endWatches(how);
      h.api.put('c');
      await caughtUp(h);
      expect(lists(h)).toBe(1);
      expect(h.ends[0]).toBe(how === 'end' || how === 'mid-line' ? 'end' : 'unreachable');
    },
  );

  it.each<[string, (h: ReflectorHarness) => void]>([
    ['an ERROR event with 410 in a stream of HTTP 200', (h) => h.api.endWatches('error-event')],
    [
      'HTTP 410',
      (h) => {
        h.api.faults.push('gone-http');
        h.api.endWatches('end');
      },
    ],
    [
      'a history that was compacted',
      (h) => {
        h.api.endWatches('end');
        h.api.put('x');
        h.api.compact();
      },
    ],
  ])('lists again after %s', async (_, hurt) => {
    const h = await start((api) => api.put('a'));
    await watching(h);
    hurt(h);
    h.api.put('b');
    await caughtUp(h);
    expect(lists(h)).toBeGreaterThanOrEqual(2);
    expect(h.ends).toContain('expired');
  });

  it('survives what stops the library for good: 500, 503, resets and pages of a proxy, at list and watch', async () => {
    const faults = ['error500', 'reset', 'reset', 'not-json', 'unavailable503', 'gone-http'] as const;
    const h = await start((api) => {
      api.put('a');
      api.faults.push(...faults);
    });
    await h.reflector.synced;
    await watching(h);
    h.api.faults.push(
      'error500',
      'reset',
      'unavailable503',
      'empty-watch',
      'gone-event',
      'cut-mid-line',
      'error500',
    );
    h.api.endWatches('reset');
    h.api.put('b');
    await until(() => h.api.faults.length === 0, 'all faults');
    await caughtUp(h);
  });

  it('reads characters that are cut between packets', async () => {
    const h = await start();
    await watching(h);
    h.api.endWatches('end');
    h.api.faults.push('split-bytes');
    h.api.put('a');
    await caughtUp(h);
    expect(h.reflector.store.list()[0]).toMatchObject({ note: 'grüße 11 😀' });
  });

  it('ends a watch that fell silent by itself, and is not fooled by a dead peer', async () => {
    const h = await start(undefined, { idleMs: 60 });
    await watching(h);
    h.api.endWatches('deafen');
    h.api.put('a');
    await caughtUp(h);
    expect(h.ends).toContain('unreachable');
  });

  it('is kept alive by bookmarks, and goes on from them', async () => {
    const h = await start(undefined, { idleMs: 400 });
    await watching(h);
    h.api.put('a');
    await caughtUp(h);
    for (let i = 0; i < 8; i += 1) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      h.api.bookmark();
    }
    expect(h.ends).toEqual([]);
  });

  it('tells an object that was replaced in a gap as delete and add, not as update', async () => {
    const h = await start((api) => api.put('a'));
    await watching(h);
    h.server.answer = (_, response) => void response.destroy();
    h.server.cut();
    await until(() => h.errors.length > 0, 'a failure');
    h.api.remove('a');
    h.api.put('a');
    h.api.compact();
    h.server.answer = h.api.answer;
    await caughtUp(h);
    expect(told(h)).toEqual(['add a uid-1', 'delete a uid-1', 'add a uid-2']);
  });

  it('tells what vanished in a gap', async () => {
    const h = await start((api) => ['a', 'b'].forEach((name) => api.put(name)));
    await watching(h);
    h.api.endWatches('end');
    h.api.remove('a');
    h.api.compact();
    await caughtUp(h);
    expect(told(h).at(-1)).toBe('delete a uid-1');
  });

  it('does not tell unchanged objects again after another list', async () => {
    const h = await start((api) => ['a', 'b'].forEach((name) => api.put(name)));
    await watching(h);
    h.api.endWatches('error-event');
    await until(() => lists(h) > 1, 'another list');
    await watching(h);
    expect(told(h)).toHaveLength(2);
  });

  it('holds a handler that throws away from the cache and from the other handlers', async () => {
    const h = await start((api) => api.put('a'));
    await h.reflector.synced;
    const late: string[] = [];
    h.reflector.addHandler(() => {
      throw new Error('a handler');
    });
    h.reflector.addHandler((change) => late.push(`${change.type} ${change.key}`));
    await watching(h);
    h.api.put('b');
    await caughtUp(h);
    await until(() => late.length === 2, 'both changes');
    expect(late).toEqual(['add team-a/a', 'add team-a/b']);
    expect(h.errors.map(String)).toEqual(['Error: a handler', 'Error: a handler']);
  });

  it('opens nothing more once it was stopped, and rejects who waits for it', async () => {
    const h = await start(
      (api) => api.faults.push(...Array.from({ length: 1000 }, () => 'error500' as const)),
      {
        backoffBaseMs: 50,
        backoffCapMs: 50,
      },
    );
    await until(() => h.errors.length > 1, 'back-off');
    const { server } = h;
    const seen = server.requests.length;
    const synced = h.reflector.synced;
    await h.stop();
    harness = undefined;
    await expect(synced).rejects.toThrow('stopped');
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(server.requests.length).toBeLessThanOrEqual(seen + 1);
  });

  it('comes back to a server that was away', async () => {
    const h = await start((api) => api.put('a'));
    await watching(h);
    const { port } = h.server;
    await h.server.close();
    await until(() => h.errors.length > 3, 'refused connections');
    h.api.put('b');
    h.api.compact();
    await h.server.listen(port);
    await caughtUp(h);
  });

  it('does not hammer a server that ends every watch at once', async () => {
    const h = await start(
      (api) => api.faults.push(...Array.from({ length: 100_000 }, () => 'empty-watch' as const)),
      {
        backoffBaseMs: 50,
        backoffCapMs: 100,
      },
    );
    await h.reflector.synced;
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(h.server.requests.length).toBeLessThan(20);
  });
});
