import { type Clock, systemClock } from '../api/clock.ts';
import { Backoff } from './backoff.ts';
import type { KubeClient, Selection } from './client.ts';
import { ApiStatusError, isGone, isUnreachable } from './errors.ts';
import { type KubeObject, keyOf } from './object.ts';
import type { Resource } from './resource.ts';
import { type Indexers, Store, type StoreReader } from './store.ts';

/** A change of the cache. A deletion carries the last state known; after a gap that may be an old one. */
export type Change<T extends KubeObject> =
  | { readonly type: 'add'; readonly key: string; readonly object: T }
  | { readonly type: 'update'; readonly key: string; readonly object: T; readonly old: T }
  | { readonly type: 'delete'; readonly key: string; readonly object: T };

/** Only enqueues keys. What it throws goes to `onError` and changes nothing else. */
export type ChangeHandler<T extends KubeObject> = (change: Change<T>) => void;

export interface ReflectorTiming {
  /** The server ends a watch after this many seconds, to twice as many (jitter). */
  readonly watchSeconds: number;
  /** A watch without a byte for so long is dead: bookmarks come about once a minute. */
  readonly idleMs: number;
  readonly backoffBaseMs: number;
  readonly backoffCapMs: number;
}

export interface ReflectorOptions<T extends KubeObject, Index extends string> {
  readonly client: KubeClient;
  readonly resource: Resource<T>;
  readonly selection?: Selection;
  readonly indexers: Indexers<T, Index>;
  readonly timing?: Partial<ReflectorTiming>;
  readonly clock?: Clock;
  /** In [0, 1). */
  readonly random?: () => number;
  /** A watch ended, for whatever reason; for metrics. */
  readonly onWatchRestart?: (reason: WatchEnd) => void;
  /** A list or watch failed and is tried again, or a handler threw; for logs. */
  readonly onError?: (error: unknown) => void;
}

/** Why a watch ended: `end` is an end by the server in good order, which also slow watchers get. */
export type WatchEnd = 'end' | 'expired' | 'unreachable' | 'status';

const DEFAULT_TIMING: ReflectorTiming = {
  watchSeconds: 300,
  idleMs: 150_000,
  backoffBaseMs: 500,
  backoffCapMs: 30_000,
};

/** After so many watches in a row that could not be had, the resourceVersion itself is in doubt: list again. */
const WATCH_FAILURES_BEFORE_LIST = 5;

/**
 * Keeps a store equal to what the server holds, over every fault, until it is told to stop: list, watch, watch
 * again at every end, list again when the resourceVersion is too old.
 */
export class Reflector<T extends KubeObject, Index extends string = never> {
  /** Resolves after the first whole list; rejects when the work is stopped before it. */
  readonly synced: Promise<void>;
  readonly resource: Resource<T>;
  readonly #options: ReflectorOptions<T, Index>;
  readonly #timing: ReflectorTiming;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #store: Store<T, Index>;
  readonly #backoff: Backoff;
  readonly #firstList = Promise.withResolvers<undefined>();
  readonly #handlers: ChangeHandler<T>[] = [];
  #hasSynced = false;
  /** Up to where the store is true; null: not known, list. */
  #resourceVersion: string | null = null;

  constructor(options: ReflectorOptions<T, Index>) {
    this.#options = options;
    this.resource = options.resource;
    this.#timing = { ...DEFAULT_TIMING, ...options.timing };
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#store = new Store(options.indexers);
    this.#backoff = new Backoff(this.#timing.backoffBaseMs, this.#timing.backoffCapMs, this.#random);
    this.synced = this.#firstList.promise;
    // Nobody has to wait for it.
    this.synced.catch(() => undefined);
  }

  get store(): StoreReader<T, Index> {
    return this.#store;
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** Hands over every change from now on, and first an `add` for what is known already. */
  addHandler(handler: ChangeHandler<T>): void {
    for (const object of this.#store.list()) {
      this.#tell(handler, { type: 'add', key: keyOf(object.metadata), object });
    }
    this.#handlers.push(handler);
  }

  /** Works until `signal` aborts; never rejects. Run once. */
  async run(signal: AbortSignal): Promise<void> {
    const stopped = () => signal.aborted;
    while (!stopped()) {
      try {
        if (this.#resourceVersion === null) await this.#list(signal);
        await this.#watchOnce(signal);
      } catch (thrown) {
        if (stopped()) break;
        this.#report(thrown);
        await this.#clock.sleep(this.#waitAfter(thrown), signal);
      }
    }
    this.#firstList.reject(signal.reason);
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { client, resource, selection } = this.#options;
    const list = await client.list(resource, { ...selection, signal });
    signal.throwIfAborted();
    const gone = new Set(this.#store.keys());
    for (const item of list.items) {
      gone.delete(keyOf(item.metadata));
      this.#keep(item);
    }
    for (const key of gone) this.#remove(key);
    this.#resourceVersion = list.resourceVersion;
    this.#hasSynced = true;
    this.#firstList.resolve(undefined);
  }

  /** One watch from its beginning to its end. An end in good order returns; every other one throws. */
  async #watchOnce(signal: AbortSignal): Promise<void> {
    const { client, resource, selection } = this.#options;
    const startedMs = this.#clock.monotonicMs();
    let events = 0;
    let end: WatchEnd = 'end';
    try {
      const watch = client.watch(resource, {
        ...selection,
        resourceVersion: this.#resourceVersion ?? '',
        timeoutSeconds: Math.round(this.#timing.watchSeconds * (1 + this.#random())),
        idleMs: this.#timing.idleMs,
        signal,
      });
      for await (const event of watch) {
        events += 1;
        this.#backoff.reset();
        switch (event.type) {
          case 'BOOKMARK':
            this.#resourceVersion = event.resourceVersion;
            break;
          case 'ADDED':
          case 'MODIFIED':
            this.#resourceVersion = event.object.metadata.resourceVersion;
            this.#keep(event.object);
            break;
          case 'DELETED':
            this.#resourceVersion = event.object.metadata.resourceVersion;
            this.#removeDeleted(event.object);
            break;
        }
      }
    } catch (thrown) {
      if (isGone(thrown)) {
        end = 'expired';
        this.#resourceVersion = null;
      } else {
        end = isUnreachable(thrown) ? 'unreachable' : 'status';
      }
      throw thrown;
    } finally {
      if (!signal.aborted) this.#options.onWatchRestart?.(end);
    }
    signal.throwIfAborted();
    if (events === 0 && this.#clock.monotonicMs() - startedMs < 1000) {
      // A server that ends every watch at once must not be asked without a pause.
      await this.#clock.sleep(this.#backoff.next(), signal);
    } else {
      this.#backoff.reset();
    }
  }

  #waitAfter(thrown: unknown): number {
    const waitMs = this.#backoff.next();
    if (this.#backoff.failures >= WATCH_FAILURES_BEFORE_LIST) this.#resourceVersion = null;
    const asked = thrown instanceof ApiStatusError ? (thrown.retryAfterSeconds ?? 0) * 1000 : 0;
    // An expired resourceVersion is everyday; only when it comes again and again is it waited for.
    if (isGone(thrown) && this.#backoff.failures === 1) return 0;
    return Math.max(waitMs, Math.min(asked, this.#timing.backoffCapMs));
  }

  #keep(object: T): void {
    dropManagedFields(object);
    const key = keyOf(object.metadata);
    const old = this.#store.get(key);
    if (old !== undefined && old.metadata.uid !== object.metadata.uid) {
      // Another object of the same name: its deletion was in a gap.
      this.#remove(key);
      this.#add(key, object);
    } else if (old === undefined) {
      this.#add(key, object);
    } else if (old.metadata.resourceVersion !== object.metadata.resourceVersion) {
      this.#store.put(object);
      this.#tellAll({ type: 'update', key, object, old });
    }
  }

  #add(key: string, object: T): void {
    this.#store.put(object);
    this.#tellAll({ type: 'add', key, object });
  }

  #remove(key: string): void {
    const object = this.#store.remove(key);
    if (object !== undefined) this.#tellAll({ type: 'delete', key, object });
  }

  #removeDeleted(object: T): void {
    const key = keyOf(object.metadata);
    const known = this.#store.get(key);
    if (known?.metadata.uid !== object.metadata.uid) return;
    dropManagedFields(object);
    this.#store.remove(key);
    this.#tellAll({ type: 'delete', key, object });
  }

  #tellAll(change: Change<T>): void {
    for (const handler of this.#handlers) this.#tell(handler, change);
  }

  #tell(handler: ChangeHandler<T>, change: Change<T>): void {
    try {
      handler(change);
    } catch (thrown) {
      this.#report(thrown);
    }
  }

  #report(thrown: unknown): void {
    this.#options.onError?.(thrown);
  }
}

/** Half of an object's size, and nothing reads it. */
function dropManagedFields(object: KubeObject): void {
  Reflect.deleteProperty(object.metadata, 'managedFields');
}
