import type { IndexPart, Round } from '../../api/container-requests.ts';
import type { TrialSpec, TrialStatus } from '../../api/trial-resource.ts';
import type { RunView } from '../run-view.ts';

/*
 * What a plan for a run is made from: plain data, read once. Times are milliseconds since the epoch.
 */

export interface TrialView {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly spec: TrialSpec;
  readonly status: TrialStatus;
}

/** The suite's index, joined from its parts; only when all are there. */
export interface SuiteView {
  readonly suiteDigest: string;
  readonly scenarios: readonly IndexPart['scenarios'][number][];
}

/** What has become of a Job. `said`: the last words of its containers. */
export interface JobFacts {
  readonly uid: string;
  readonly state: 'active' | 'complete' | 'failed';
  readonly createdAt: number;
  /** When it completed or failed; null while it is active. */
  readonly endedAt: number | null;
  readonly said: string;
}

/** A score round as its ConfigMap and its Job show it. */
export interface RoundFacts {
  readonly number: number;
  readonly list: Round;
  /** Null: the controller stopped between the two writes. */
  readonly job: JobFacts | null;
}

/** The probe pod of the runtime image. */
export interface ProbeFacts {
  readonly uid: string;
  readonly state: 'queued' | 'starting' | 'passed' | 'failed';
  /** When it was scheduled, else created. */
  readonly since: number;
  /** Why it failed or what it waits for: CamelCase. */
  readonly reason: string;
  readonly message: string;
  /** Digest of the image as the node resolved it; null before that. */
  readonly imageDigest: string | null;
}

/** The claim that the run's artifacts go to. */
export interface ClaimFacts {
  readonly name: string;
  readonly accessModes: readonly string[];
  readonly ownedByRun: boolean;
  readonly phase: string;
}

/** Something that the run names and that is not there. */
export interface MissingReference {
  readonly kind: 'Secret' | 'ConfigMap' | 'PersistentVolumeClaim' | 'StorageClass';
  readonly name: string;
  /** Which key of it, where the object is there. */
  readonly key?: string;
  readonly field: string;
}

/** The Deployment of the run's gateway. `message`: what it waits for; empty when it is ready. */
export interface GatewayFacts {
  readonly uid: string;
  readonly ready: boolean;
  readonly message: string;
}

/** What a run's model said before the first trial. */
export type ModelAnswer =
  | { readonly state: 'asking' | 'answered' }
  /** It will not answer by itself: wrong key, unknown model, empty account. */
  | { readonly state: 'refused'; readonly reason: string; readonly message: string }
  | { readonly state: 'unavailable'; readonly message: string };

export interface TrialPodView {
  readonly name: string;
  readonly uid: string;
  /** Name of its Trial. */
  readonly trial: string;
  readonly live: boolean;
}

export interface RunObservation {
  readonly run: RunView;
  /** What of the spec no pod can be made from, found without the cluster; null when nothing. */
  readonly invalid: string | null;
  readonly needsGateway: boolean;
  /** Surfaces of OpenClaw that the runtime's adapter offers. */
  readonly surfaces: readonly string[];
  readonly trials: readonly TrialView[];
  readonly pods: readonly TrialPodView[];
  readonly missing: readonly MissingReference[];
  readonly claim: ClaimFacts | null;
  readonly gateway: GatewayFacts | null;
  /** null: nobody has to ask, or nobody can yet. */
  readonly modelAnswer: ModelAnswer | null;
  readonly probe: ProbeFacts | null;
  readonly prepare: JobFacts | null;
  readonly suite: SuiteView | null;
  /** Oldest first. */
  readonly rounds: readonly RoundFacts[];
  /** Names of Trials that were created and that the cache does not show yet. */
  readonly createdTrials: ReadonlySet<string>;
  /** The API server refuses the run's pods, and why. */
  readonly podRefusal: string | null;
  /** Facts of images and nodes, as far as pods have shown them. */
  readonly seen: Readonly<Record<string, string>>;
}

/** Of the controller's configuration, in seconds. */
export interface RunPlanOptions {
  readonly now: number;
  readonly operatorVersion: string;
  /** Image of the operator's own containers; readers of the run's files use it. */
  readonly operatorImage: string;
  readonly runtimeImage: string;
  readonly preflight: { readonly enabled: boolean; readonly seconds: number };
  readonly breaker: { readonly probeEverySeconds: number; readonly failAfterSeconds: number };
  readonly failedPodsKept: number;
  readonly finalizerSeconds: number;
}
