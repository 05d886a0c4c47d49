import { benchmarkRunSpecSchema, type BenchmarkRunSpec } from '../../../src/api/benchmark-run.ts';
import { RUN_FINALIZER } from '../../../src/api/pod-contract.ts';
import { runStatusSchema, type RunStatus } from '../../../src/api/run-status.ts';
import { trialName } from '../../../src/api/names.ts';
import type { TrialStatus } from '../../../src/api/trial-resource.ts';
import type { RunView } from '../../../src/controller/run-view.ts';
import type {
  JobFacts,
  RoundFacts,
  RunObservation,
  RunPlanOptions,
  SuiteView,
  TrialView,
} from '../../../src/controller/run/observation.ts';
import { attempt, at, iso, status } from './builders.ts';

export const RUN_UID = '11111111-2222-3333-4444-555555555555';

export interface RunOver {
  readonly spec?: Partial<Record<keyof BenchmarkRunSpec, unknown>>;
  readonly status?: Partial<RunStatus>;
  readonly finalizers?: readonly string[];
  readonly deletedAt?: string;
}

export function run({ spec = {}, status: over = {}, finalizers, deletedAt }: RunOver = {}): RunView {
  const full = { suite: { builtin: {} }, runtime: { id: 'scripted' }, trialsPerScenario: 1, ...spec };
  return {
    object: {
      apiVersion: 'clawbench.dev/v1alpha1',
      kind: 'BenchmarkRun',
      metadata: {
        name: 'smoke',
        namespace: 'team',
        uid: RUN_UID,
        resourceVersion: '1',
        creationTimestamp: iso(0),
        generation: 3,
        finalizers: finalizers ?? [RUN_FINALIZER],
        ...(deletedAt === undefined ? {} : { deletionTimestamp: deletedAt }),
      },
      spec: full,
    },
    name: 'smoke',
    namespace: 'team',
    uid: RUN_UID,
    generation: 3,
    createdAt: iso(0),
    spec: benchmarkRunSpecSchema.parse(full),
    status: { ...runStatusSchema.parse({}), ...over },
  };
}

export function suite(...ids: string[]): SuiteView {
  return {
    suiteDigest: 'sha256:suite',
    scenarios: ids.map((id) => ({
      id,
      dimension: 'tool_use',
      weight: 1,
      turn: null,
      total: null,
      digest: `digest-${id}`,
      surfaces: [],
      supervised: false,
    })),
  };
}

export function trial(scenarioId: string, over: Partial<TrialStatus> = {}, number = 1): TrialView {
  const name = trialName('smoke', RUN_UID, scenarioId, number);
  return {
    name,
    uid: `uid-${name}`,
    resourceVersion: '1',
    spec: {
      runName: 'smoke',
      scenarioId,
      trialNumber: number,
      dimension: 'tool_use',
      scenarioDigest: `digest-${scenarioId}`,
      suiteDigest: 'sha256:suite',
    },
    status: status(over),
  };
}

/** An attempt that ended in order and left its artifacts. */
export const good = attempt({
  endedAt: iso(60),
  artifacts: { path: 'trials/x/attempts/1', digest: 'f', files: 1, bytes: 1, collected: true },
});
export const executed: Partial<TrialStatus> = {
  phase: 'Executed',
  decidedBy: 1,
  execution: 'success',
  attempts: [good],
};
export const scored: Partial<TrialStatus> = {
  ...executed,
  phase: 'Scored',
  outcome: 'pass',
  score: 1,
  scoredRevision: 1,
};

export const job = (state: JobFacts['state'], over: Partial<JobFacts> = {}): JobFacts => ({
  uid: 'job',
  state,
  createdAt: at(0),
  endedAt: state === 'active' ? null : at(100),
  said: '',
  ...over,
});

export function round(
  number: number,
  trials: readonly TrialView[],
  over: Partial<RoundFacts> = {},
): RoundFacts {
  return {
    number,
    list: {
      revision: 1,
      last: true,
      trials: trials.map(({ name, spec, status: { class: failure, decidedBy, execution } }) => ({
        execution: execution ?? 'error',
        trial: name,
        scenarioId: spec.scenarioId,
        number: spec.trialNumber,
        attempt: decidedBy ?? 1,
        digest: 'f',
        class: failure,
      })),
    },
    job: job('complete'),
    ...over,
  };
}

export function seen(over: Partial<RunObservation> = {}): RunObservation {
  return {
    run: run({ status: { provenance: { runtimeImageDigest: 'sha256:image' } } }),
    invalid: null,
    needsGateway: false,
    surfaces: [],
    trials: [],
    pods: [],
    missing: [],
    claim: { name: 'smoke-artifacts', accessModes: ['ReadWriteMany'], ownedByRun: true, phase: 'Bound' },
    gateway: null,
    modelAnswer: null,
    probe: null,
    prepare: job('complete'),
    suite: suite('one', 'two'),
    rounds: [],
    createdTrials: new Set(),
    podRefusal: null,
    seen: {},
    ...over,
  };
}

export const runOptions = (seconds: number, over: Partial<RunPlanOptions> = {}): RunPlanOptions => ({
  now: at(seconds),
  operatorVersion: '0.1.0',
  operatorImage: 'clawbench-operator:0.1.0',
  runtimeImage: 'example.test/scripted:dev',
  preflight: { enabled: true, seconds: 120 },
  breaker: { probeEverySeconds: 300, failAfterSeconds: 3600 },
  failedPodsKept: 20,
  finalizerSeconds: 300,
  ...over,
});

export const condition = (
  type: RunStatus['conditions'][number]['type'],
  is: 'True' | 'False',
  reason = 'Test',
  seconds = 0,
) => ({ type, status: is, reason, message: '', observedGeneration: 1, lastTransitionTime: iso(seconds) });
