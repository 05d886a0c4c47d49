import { KubeClient } from '../../../src/kube/client.ts';
import { staticAccess } from '../../../src/kube/config.ts';
import type { ConfigMap } from '../../../src/kube/object.ts';
import { type Change, Reflector, type ReflectorTiming, type WatchEnd } from '../../../src/kube/reflector.ts';
import { CONFIG_MAPS } from '../../../src/kube/resource.ts';
import { LoopbackServer } from '../../support/loopback-server.ts';
import { ModelApi } from '../../support/model-api.ts';

/** A reflector against a server on a socket, with all that it reported. */
export interface ReflectorHarness {
  readonly api: ModelApi;
  readonly server: LoopbackServer;
  readonly reflector: Reflector<ConfigMap, 'note'>;
  readonly changes: Change<ConfigMap>[];
  readonly ends: WatchEnd[];
  readonly errors: unknown[];
  /** UID by name as a handler sees it that only follows changes; throws on a change that cannot be. */
  readonly followed: Map<string, string>;
  readonly stop: () => Promise<void>;
}

const QUICK: Partial<ReflectorTiming> = { backoffBaseMs: 1, backoffCapMs: 8, idleMs: 5_000 };

export async function startReflector(
  prepare: (api: ModelApi) => void = () => undefined,
  timing: Partial<ReflectorTiming> = {},
  pageSize?: number,
): Promise<ReflectorHarness> {
  const api = new ModelApi();
  api.pageSize = pageSize ?? api.pageSize;
  prepare(api);
  const server = await LoopbackServer.start(api.answer);
  const client = new KubeClient(staticAccess(server.url), {
    fieldManager: 'tester',
    throttle: { tries: 0, totalSeconds: 0 },
  });
  const changes: Change<ConfigMap>[] = [];
  const ends: WatchEnd[] = [];
  const errors: unknown[] = [];
  const followed = new Map<string, string>();
  const reflector = new Reflector<ConfigMap, 'note'>({
    client,
    resource: CONFIG_MAPS,
    selection: { namespace: 'team-a' },
    indexers: { note: (object) => [(object as ConfigMap & { note: string }).note] },
    timing: { ...QUICK, ...timing },
    onWatchRestart: (end) => ends.push(end),
    onError: (error) => errors.push(error),
  });
  reflector.addHandler((change) => {
    changes.push(change);
    follow(followed, change);
  });
  const abort = new AbortController();
  const running = reflector.run(abort.signal);
  return {
    api,
    server,
    reflector,
    changes,
    ends,
    errors,
    followed,
    stop: async () => {
      abort.abort(new Error('stopped'));
      await running;
      await client.close();
      await server.close();
    },
  };
}

function follow(followed: Map<string, string>, change: Change<ConfigMap>): void {
  const { name, uid } = change.object.metadata;
  const known = followed.get(name);
  switch (change.type) {
    case 'add':
      if (known !== undefined) throw new ImpossibleChange(`${name} was added twice`);
      followed.set(name, uid);
      return;
    case 'update':
      if (known !== uid) throw new ImpossibleChange(`${name} was updated from ${String(known)} to ${uid}`);
      return;
    case 'delete':
      if (known !== uid) throw new ImpossibleChange(`${name} of ${uid} was deleted, not ${String(known)}`);
      followed.delete(name);
      return;
  }
}

/** The changes told a story that cannot be. */
export class ImpossibleChange extends Error {}

/** Name to UID and version, of what the server holds or the store says. */
export function stateOf(
  objects: Iterable<{ readonly metadata: { name: string; uid: string; resourceVersion: string } }>,
) {
  const entries = [...objects].map(({ metadata }) => [
    metadata.name,
    `${metadata.uid}@${metadata.resourceVersion}`,
  ]);
  return Object.fromEntries(entries.sort(([a = ''], [b = '']) => a.localeCompare(b))) as Record<
    string,
    string
  >;
}
