import { type KubeObject, keyOf } from './object.ts';

/** Values under which an object is found; computed when it is stored. */
export type Indexer<T extends KubeObject> = (object: T) => readonly string[];
export type Indexers<T extends KubeObject, Index extends string> = Readonly<Record<Index, Indexer<T>>>;

/** A cache as reconcilers see it. Objects are shared: nobody may change them. */
export interface StoreReader<T extends KubeObject, Index extends string = never> {
  readonly size: number;
  /** By `namespace/name`, or name where cluster-scoped. */
  readonly get: (key: string) => T | undefined;
  readonly getByUid: (uid: string) => T | undefined;
  /** In order of arrival. */
  readonly list: () => T[];
  readonly keys: () => string[];
  readonly byIndex: (index: Index, value: string) => T[];
}

/** Objects of one resource by key, by UID and by whatever index functions say. */
export class Store<T extends KubeObject, Index extends string = never> implements StoreReader<T, Index> {
  readonly #indexers: Indexers<T, Index>;
  readonly #byKey = new Map<string, T>();
  readonly #keyByUid = new Map<string, string>();
  readonly #indices = new Map<string, Map<string, Set<string>>>();

  constructor(indexers: Indexers<T, Index>) {
    this.#indexers = indexers;
    for (const index of Object.keys(indexers)) this.#indices.set(index, new Map());
  }

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): T | undefined {
    return this.#byKey.get(key);
  }

  getByUid(uid: string): T | undefined {
    const key = this.#keyByUid.get(uid);
    return key === undefined ? undefined : this.#byKey.get(key);
  }

  list(): T[] {
    return [...this.#byKey.values()];
  }

  keys(): string[] {
    return [...this.#byKey.keys()];
  }

  byIndex(index: Index, value: string): T[] {
    const found: T[] = [];
    for (const key of this.#indices.get(index)?.get(value) ?? []) {
      const object = this.#byKey.get(key);
      if (object !== undefined) found.push(object);
    }
    return found;
  }

  /** Stores an object in place of the one of the same key, which it returns. */
  put(object: T): T | undefined {
    const key = keyOf(object.metadata);
    const old = this.remove(key);
    this.#byKey.set(key, object);
    this.#keyByUid.set(object.metadata.uid, key);
    this.#eachIndexValue(object, (values, value) => {
      const keys = values.get(value);
      if (keys === undefined) values.set(value, new Set([key]));
      else keys.add(key);
    });
    return old;
  }

  /** Removes and returns the object of a key. */
  remove(key: string): T | undefined {
    const old = this.#byKey.get(key);
    if (old === undefined) return undefined;
    this.#byKey.delete(key);
    this.#keyByUid.delete(old.metadata.uid);
    this.#eachIndexValue(old, (values, value) => {
      const keys = values.get(value);
      keys?.delete(key);
      // Values such as run UIDs come and go for ever: an empty one must not stay.
      if (keys?.size === 0) values.delete(value);
    });
    return old;
  }

  #eachIndexValue(object: T, visit: (values: Map<string, Set<string>>, value: string) => void): void {
    for (const [index, indexer] of Object.entries<Indexer<T>>(this.#indexers)) {
      const values = this.#indices.get(index);
      if (values === undefined) continue;
      for (const value of indexer(object)) visit(values, value);
    }
  }
}
