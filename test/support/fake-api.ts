import { ApiStatusError } from '../../src/kube/errors.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import type { PublishClient } from '../../src/pods/score-round/publish-round.ts';
import type { IndexClient } from '../../src/pods/prepare/publish-index.ts';

type Json = Record<string, unknown>;

/** The part of an API server that publish and publish-index use, in memory: names, merge patches, 404 and 409. */
export class FakeApi {
  readonly objects = new Map<string, KubeObject>();
  /** Every write, e.g. `patch trials/a`. */
  readonly writes: string[] = [];
  /** Called before each write; may throw. */
  beforeWrite: (what: string) => void = () => undefined;

  put(plural: string, object: object): void {
    const { name } = (object as KubeObject).metadata;
    this.objects.set(`${plural}/${name}`, structuredClone(object) as KubeObject);
  }

  get(plural: string, name: string): unknown {
    return structuredClone(this.objects.get(`${plural}/${name}`));
  }

  /** As the real client's methods, for the calls that are made here. */
  readonly client = {
    create: async (resource: { plural: string }, draft: { metadata: { name?: string } }) => {
      const key = `${resource.plural}/${draft.metadata.name ?? ''}`;
      await this.write(`create ${key}`);
      if (this.objects.has(key)) throw status(409, 'AlreadyExists', key);
      this.put(resource.plural, draft);
      return this.objects.get(key);
    },
    find: (resource: { plural: string }, ref: { name: string }) =>
      Promise.resolve(structuredClone(this.objects.get(`${resource.plural}/${ref.name}`)) ?? null),
    patch: async (
      resource: { plural: string },
      ref: { name: string },
      patch: { type: string; body: object },
    ) => {
      const key = `${resource.plural}/${ref.name}`;
      await this.write(`patch ${key}`);
      const object = this.objects.get(key);
      if (object === undefined) throw status(404, 'NotFound', key);
      if (patch.type !== 'merge') throw new Error(`no ${patch.type} patch here`);
      this.objects.set(key, merged(object, patch.body) as unknown as KubeObject);
      return this.objects.get(key);
    },
    pages: (resource: { plural: string }) => pagesOf(this.objects, resource.plural),
  } as unknown as PublishClient & IndexClient;

  private async write(what: string): Promise<void> {
    await Promise.resolve();
    this.beforeWrite(what);
    this.writes.push(what);
  }
}

/** Two pages, so that whoever reads one only is found out. */
async function* pagesOf(objects: ReadonlyMap<string, KubeObject>, plural: string) {
  const items = [...objects].filter(([key]) => key.startsWith(`${plural}/`)).map(([, one]) => one);
  const half = Math.ceil(items.length / 2);
  for (const page of [items.slice(0, half), items.slice(half)]) {
    yield await Promise.resolve({
      resourceVersion: '1',
      items: structuredClone(page),
      continueToken: null,
    });
  }
}

function status(code: number, reason: string, message: string): ApiStatusError {
  return new ApiStatusError('fake', code, { reason, message, code });
}

/** RFC 7386. */
function merged(target: object, patch: object): Json {
  const result = new Map(Object.entries(target as Json));
  for (const [key, value] of Object.entries(patch as Json)) {
    const before = result.get(key);
    if (value === null) result.delete(key);
    else if (typeof value === 'object' && !Array.isArray(value)) {
      result.set(key, merged(typeof before === 'object' && before !== null ? before : {}, value));
    } else result.set(key, value);
  }
  return Object.fromEntries(result);
}
