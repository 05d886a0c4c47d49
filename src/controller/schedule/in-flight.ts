import type { Pod } from '../../kube/object.ts';
import type { Change } from '../../kube/reflector.ts';
import type { StoreReader } from '../../kube/store.ts';

/** After so long the watch must have brought it; if not, the Trial's own pass asks the API server. */
const PATIENCE_MS = 60_000;

/**
 * Pods that were created and that the cache does not show yet, by Trial. Until it does they count as live: a plan made
 * on a cache behind our own writes would start too many.
 */
export class InFlight {
  readonly #pods: StoreReader<Pod>;
  readonly #now: () => number;
  readonly #byTrial = new Map<string, { readonly podUid: string; readonly at: number }>();
  readonly #trialOf = new Map<string, string>();
  /** Pods that the cache saw vanish while we waited for them. */
  readonly #gone = new Set<string>();

  constructor(pods: StoreReader<Pod>, now: () => number) {
    this.#pods = pods;
    this.#now = now;
  }

  /** To be called with every change of the cache of pods, before it enqueues. */
  readonly observe = ({ type, object }: Change<Pod>): void => {
    const { uid } = object.metadata;
    if (type === 'delete') {
      this.#gone.add(uid);
      if (this.#gone.size > 5000) this.#gone.clear();
    }
    const trial = this.#trialOf.get(uid);
    if (trial === undefined) return;
    this.#trialOf.delete(uid);
    this.#byTrial.delete(trial);
  };

  created(trialUid: string, podUid: string): void {
    // The watch may have been faster than the answer.
    if (this.#pods.getByUid(podUid) !== undefined || this.#gone.has(podUid)) return;
    this.#byTrial.set(trialUid, { podUid, at: this.#now() });
    this.#trialOf.set(podUid, trialUid);
  }

  has(trialUid: string): boolean {
    const pending = this.#byTrial.get(trialUid);
    if (pending === undefined) return false;
    if (this.#now() - pending.at < PATIENCE_MS) return true;
    this.#byTrial.delete(trialUid);
    this.#trialOf.delete(pending.podUid);
    return false;
  }
}
