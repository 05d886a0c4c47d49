import type { KubeObject } from '../../kube/object.ts';
import type { StoreReader } from '../../kube/store.ts';

/** Several caches of one resource, one a namespace, as one. Keys and UIDs are unlike over all of them. */
export class UnionStore<T extends KubeObject, Index extends string> implements StoreReader<T, Index> {
  readonly #stores: readonly StoreReader<T, Index>[];

  constructor(stores: readonly StoreReader<T, Index>[]) {
    this.#stores = stores;
  }

  get size(): number {
    return this.#stores.reduce((sum, { size }) => sum + size, 0);
  }

  readonly get = (key: string): T | undefined => this.#first((store) => store.get(key));
  readonly getByUid = (uid: string): T | undefined => this.#first((store) => store.getByUid(uid));
  readonly list = (): T[] => this.#stores.flatMap((store) => store.list());
  readonly keys = (): string[] => this.#stores.flatMap((store) => store.keys());
  readonly byIndex = (index: Index, value: string): T[] =>
    this.#stores.flatMap((store) => store.byIndex(index, value));

  #first(find: (store: StoreReader<T, Index>) => T | undefined): T | undefined {
    for (const store of this.#stores) {
      const found = find(store);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}
