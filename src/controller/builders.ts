import type { Round } from '../api/container-requests.ts';
import type { ResolvedTimeouts } from '../api/timeouts.ts';
import type {
  ConfigMap,
  Deployment,
  Draft,
  Job,
  NetworkPolicy,
  PersistentVolumeClaim,
  Pod,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
} from '../kube/object.ts';
import type { RunView } from './run-view.ts';

/** The claim that the run's pods mount. */
export interface ClaimRef {
  readonly name: string;
  readonly coLocate: boolean;
}

export interface TrialPodInput {
  readonly run: RunView;
  readonly claim: ClaimRef;
  readonly trial: { readonly name: string; readonly scenarioId: string };
  readonly attempt: number;
  readonly timeouts: ResolvedTimeouts;
  readonly gateway: { readonly clusterIP: string; readonly token: string } | null;
}

/**
 * What is made for a run, each as plain data: src/controller/objects behind the controller's configuration. Every
 * function may throw InvalidInputError for a specification that cannot become an object.
 */
export interface Builders {
  readonly trialPod: (input: TrialPodInput) => Draft<Pod>;
  readonly prepareJob: (run: RunView, claim: ClaimRef) => Draft<Job>;
  readonly scoreJob: (run: RunView, claim: ClaimRef, round: number, trials: number) => Draft<Job>;
  readonly roundConfigMap: (run: RunView, round: number, list: Round) => Draft<ConfigMap>;
  readonly probePod: (run: RunView) => Draft<Pod>;
  /** Null where the user brings a claim. */
  readonly claim: (run: RunView) => Draft<PersistentVolumeClaim> | null;
  /** `secret`: random text that its tokens are signed with. */
  readonly gateway: (run: RunView, claim: ClaimRef, secret: string) => GatewayDrafts;
  readonly policies: (run: RunView) => readonly Draft<NetworkPolicy>[];
  readonly worker: (namespace: string) => {
    readonly account: Draft<ServiceAccount>;
    readonly binding: Draft<RoleBinding>;
  };
}

export interface GatewayDrafts {
  readonly secret: Draft<Secret>;
  readonly service: Draft<Service>;
  readonly deployment: Draft<Deployment>;
}
