import { benchmarkRunSpecSchema, type BenchmarkRunSpec } from '../../src/api/benchmark-run.ts';
import { controllerConfigSchema } from '../../src/api/controller-config.ts';
import type { Round } from '../../src/api/container-requests.ts';
import { trialName } from '../../src/api/names.ts';
import type { SuiteIndex } from '../../src/api/suite-index.ts';
import { resolveTimeouts } from '../../src/api/timeouts.ts';
import type { ClaimRef, ObjectsConfig, RunContext } from '../../src/controller/objects/context.ts';
import { trialPod, type TrialPodInput } from '../../src/controller/objects/trial-pod.ts';

/* What the builders of a run's objects are given in tests. */

export const CONFIG: ObjectsConfig = {
  ...controllerConfigSchema.parse({
    operatorImage: 'registry.test/operator:1',
    runtimeImages: { scripted: 'registry.test/scripted:1', openclaw: 'registry.test/openclaw:1' },
    metricsNamespaces: ['monitoring'],
    apiServerCIDRs: ['198.51.100.7/32'],
    clusterCIDRs: ['203.0.113.0/24', '2001:db8::/32'],
  }),
  controllerNamespace: 'clawbench-system',
};

export const CLAIM: ClaimRef = { name: 'sample-artifacts', coLocate: false };
export const ONE_NODE_CLAIM: ClaimRef = { ...CLAIM, coLocate: true };
export const MODEL = {
  id: 'small',
  api: 'openai-completions',
  baseURL: 'https://models.test/v1',
  apiKeySecretRef: { name: 'provider', key: 'token' },
} as const;

/** A run of the scripted runtime; `spec` is put over it as a user would write it. */
export function runOf(spec: Readonly<Record<string, unknown>> = {}, name = 'sample'): RunContext {
  const parsed: BenchmarkRunSpec = benchmarkRunSpecSchema.parse({
    suite: { builtin: {} },
    runtime: { id: 'scripted' },
    ...spec,
  });
  return {
    name,
    namespace: 'team',
    uid: '6f1c2c1e-0000-4000-8000-000000000001',
    createdAt: '2031-03-01T10:00:00Z',
    spec: parsed,
  };
}

/** A run of the scripted runtime with these further fields of spec.runtime. */
export function runtimeRun(runtime: Readonly<Record<string, unknown>>): RunContext {
  return runOf({
    runtime: { id: 'scripted', ...runtime },
    ...(runtime['id'] === undefined || runtime['id'] === 'scripted' ? {} : { model: MODEL }),
  });
}

export function podInput(run: RunContext, over: Partial<TrialPodInput> = {}): TrialPodInput {
  return {
    run,
    config: CONFIG,
    claim: CLAIM,
    trial: { name: trialName(run.name, run.uid, 'planning-1', 1), scenarioId: 'planning-1' },
    attempt: 2,
    timeouts: resolveTimeouts(run.spec.timeouts, {}).timeouts,
    gateway: run.spec.model === undefined ? null : { clusterIP: '10.96.0.20', token: 'v1.secret.token' },
    ...over,
  };
}

export function podOf(run: RunContext, over: Partial<TrialPodInput> = {}) {
  const pod = trialPod(podInput(run, over));
  const container = (name: string) => {
    const found = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])].find(
      (candidate) => candidate.name === name,
    );
    if (found === undefined) throw new Error(`no container ${name}`);
    return found;
  };
  return { pod, spec: pod.spec!, harness: container('harness'), executor: container('executor'), container };
}

/** An index of `count` scenarios. */
export function indexOf(count: number): SuiteIndex {
  return {
    schema_version: 1,
    format: 'scenario',
    suiteDigest: 'sha256:suite',
    selector: {},
    partial: false,
    excluded: [],
    scenarios: Array.from({ length: count }, (_, at) => ({
      id: `scenario-${at}`,
      name: `The name of ${at} that nobody needs`,
      dimension: 'planning',
      difficulty: 'easy',
      signalSource: 'workspace_live',
      weight: 1,
      surfaces: [],
      turn: 180,
      total: null,
      passThreshold: 0.7,
      supervised: false,
      scripted: ['solve'],
      digest: `sha256:${at}`,
      workspaceDigest: 'sha256:workspace',
      checkerDigest: null,
    })),
  };
}

/** A round of `count` trials. */
export function roundOf(count: number): Round {
  return {
    revision: 1,
    last: true,
    trials: Array.from({ length: count }, (_, at) => ({
      trial: `${'n'.repeat(40)}-${String(at).padStart(10, '0')}`,
      scenarioId: 's'.repeat(128),
      number: 1,
      attempt: 1,
      digest: `sha256:${'0'.repeat(64)}`,
      execution: 'success',
      class: null,
    })),
  };
}
