import type { KubeClient } from '../kube/client.ts';
import { controllerOf, type PersistentVolumeClaim } from '../kube/object.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '../kube/resource.ts';
import { claimName } from './objects/claim.ts';
import type { ClaimFacts } from './run/observation.ts';
import type { RunView } from './run-view.ts';

/** How long what was read of a claim is believed; its access modes never change, its owner only by us. */
const BELIEVED_MS = 30_000;

/** Reads the claims of runs, each now and then: claims of users carry no label by which a cache could hold them. */
export class Claims {
  readonly #client: KubeClient;
  readonly #now: () => number;
  readonly #known = new Map<string, { readonly at: number; readonly facts: ClaimFacts }>();

  constructor(client: KubeClient, now: () => number) {
    this.#client = client;
    this.#now = now;
  }

  /** The claim of a run's artifacts; null while it is not there. */
  async of(run: RunView, signal: AbortSignal): Promise<ClaimFacts | null> {
    const known = this.#known.get(run.uid);
    if (known !== undefined && this.#now() - known.at < BELIEVED_MS) return known.facts;
    const name = run.status.claimName ?? claimName(run);
    const claim = await this.#client.find(
      PERSISTENT_VOLUME_CLAIMS,
      { namespace: run.namespace, name },
      { signal },
    );
    if (claim === null) {
      this.#known.delete(run.uid);
      return null;
    }
    const facts = claimFacts(claim, run.uid);
    this.#known.set(run.uid, { at: this.#now(), facts });
    return facts;
  }

  forget(runUid: string): void {
    this.#known.delete(runUid);
  }
}

function claimFacts(claim: PersistentVolumeClaim, runUid: string): ClaimFacts {
  return {
    name: claim.metadata.name,
    accessModes: claim.spec?.accessModes ?? [],
    ownedByRun: controllerOf(claim)?.uid === runUid,
    phase: claim.status?.phase ?? 'Pending',
  };
}
