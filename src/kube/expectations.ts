import { type Clock, systemClock } from '../api/clock.ts';
import type { KubeObject } from './object.ts';
import type { Change } from './reflector.ts';
import type { StoreReader } from './store.ts';

/** Whether a cache shows what we did: `expired` means ask the server itself, the cache did not come to it. */
export type ExpectationState = 'satisfied' | 'waiting' | 'expired';

interface Pending {
  readonly owner: string;
  readonly kind: 'created' | 'deleted';
  readonly expiresMs: number;
}

/** Deletions that came before we said that we expect them; enough of the newest. */
const REMEMBERED_DELETIONS = 5_000;

/**
 * Children that we created or deleted and that the cache does not show yet, by UID. A reconciler that plans on
 * a cache behind its own writes would create them twice or miscount them.
 */
export class Expectations<T extends KubeObject> {
  readonly #store: StoreReader<T>;
  readonly #clock: Clock;
  readonly #ttlMs: number;
  readonly #pending = new Map<string, Pending>();
  readonly #byOwner = new Map<string, Set<string>>();
  readonly #deleted = new Set<string>();

  /** @param ttlMs after how long an expectation is `expired`; default 60 s */
  constructor(store: StoreReader<T>, clock: Clock = systemClock, ttlMs = 60_000) {
    this.#store = store;
    this.#clock = clock;
    this.#ttlMs = ttlMs;
  }

  /** To be called with every change of the cache, before it enqueues. */
  readonly observe = (change: Change<T>): void => {
    const uid = change.object.metadata.uid;
    const pending = this.#pending.get(uid);
    if (change.type === 'delete') {
      this.#deleted.add(uid);
      const oldest = this.#deleted.values().next();
      if (this.#deleted.size > REMEMBERED_DELETIONS && oldest.done !== true)
        this.#deleted.delete(oldest.value);
    }
    // An update cannot satisfy a deletion: a finalizer may hold the object.
    if (pending !== undefined && (pending.kind === 'created' || change.type === 'delete')) this.#settle(uid);
  };

  /** We created a child; its UID is in the server's answer. */
  expectCreated(owner: string, uid: string): void {
    // The watch may have been faster than the answer.
    if (this.#store.getByUid(uid) !== undefined || this.#deleted.has(uid)) return;
    this.#expect(owner, uid, 'created');
  }

  /** We deleted a child by its UID. */
  expectDeleted(owner: string, uid: string): void {
    if (this.#store.getByUid(uid) === undefined) {
      this.#settle(uid);
      return;
    }
    this.#expect(owner, uid, 'deleted');
  }

  /** Whether the cache shows all that was done for an owner. */
  state(owner: string): ExpectationState {
    const uids = this.#byOwner.get(owner);
    if (uids === undefined) return 'satisfied';
    const nowMs = this.#clock.monotonicMs();
    for (const uid of uids) {
      if ((this.#pending.get(uid)?.expiresMs ?? 0) <= nowMs) return 'expired';
    }
    return 'waiting';
  }

  /** Drops what is expected for an owner: it is gone, or the server itself was asked. */
  forget(owner: string): void {
    for (const uid of this.#byOwner.get(owner) ?? []) this.#pending.delete(uid);
    this.#byOwner.delete(owner);
  }

  #expect(owner: string, uid: string, kind: Pending['kind']): void {
    this.#settle(uid);
    this.#pending.set(uid, { owner, kind, expiresMs: this.#clock.monotonicMs() + this.#ttlMs });
    const uids = this.#byOwner.get(owner);
    if (uids === undefined) this.#byOwner.set(owner, new Set([uid]));
    else uids.add(uid);
  }

  #settle(uid: string): void {
    const pending = this.#pending.get(uid);
    if (pending === undefined) return;
    this.#pending.delete(uid);
    const uids = this.#byOwner.get(pending.owner);
    uids?.delete(uid);
    if (uids?.size === 0) this.#byOwner.delete(pending.owner);
  }
}
