import { podFacts, type PodFacts } from './pod-facts.ts';
import { LABELS } from '../../api/names.ts';
import type { Pod } from '../../kube/object.ts';
import type { Change } from '../../kube/reflector.ts';

/** Vanished pods that are remembered for one Trial; more would be a flood of duplicates. */
const PER_TRIAL = 8;

/**
 * What this process knows beyond the cache: last states of pods that vanished, and which state of a Trial it has
 * written over. Losing it loses no attempt: without it the API server is asked.
 */
export class TrialMemory {
  readonly #vanished = new Map<string, PodFacts[]>();
  readonly #superseded = new Map<string, string>();

  /** To be called with every change of the cache of pods, before it enqueues. */
  readonly observePod = (change: Change<Pod>): void => {
    if (change.type !== 'delete') return;
    const { metadata } = change.object;
    const trial = metadata.labels?.[LABELS.TRIAL];
    if (trial === undefined) return;
    const key = `${metadata.namespace ?? ''}/${trial}`;
    const known = this.#vanished.get(key) ?? [];
    this.#vanished.set(key, [...known, podFacts(change.object)].slice(-PER_TRIAL));
  };

  vanished(key: string): readonly PodFacts[] {
    return this.#vanished.get(key) ?? [];
  }

  /** Pods whose end is written and read back need not be remembered. */
  forgetVanished(key: string, recorded: ReadonlySet<string>): void {
    const left = this.vanished(key).filter(({ uid }) => !recorded.has(uid));
    if (left.length === 0) this.#vanished.delete(key);
    else this.#vanished.set(key, left);
  }

  /** We have written over this state of a Trial: the cache is behind while it still shows it. */
  wroteOver(uid: string, resourceVersion: string): void {
    this.#superseded.set(uid, resourceVersion);
  }

  isBehind(uid: string, resourceVersion: string): boolean {
    const superseded = this.#superseded.get(uid);
    if (superseded === undefined) return false;
    if (superseded === resourceVersion) return true;
    this.#superseded.delete(uid);
    return false;
  }

  forget(key: string, uid: string | undefined): void {
    this.#vanished.delete(key);
    if (uid !== undefined) this.#superseded.delete(uid);
  }
}
