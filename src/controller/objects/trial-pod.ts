import type { Container, PodDraft, Volume } from './kubernetes.ts';
import { DEFAULT_LIMITS } from '../../attempt/agent-limits.ts';
import type { HarnessRequest } from '../../api/container-requests.ts';
import { gatewayServiceName, LABELS, podName } from '../../api/names.ts';
import { CONTAINERS, ENV, MOUNTS } from '../../api/pod-contract.ts';
import { runChildLabels, runOwnerReference } from '../../api/run-children.ts';
import type { ResolvedTimeouts } from '../../api/timeouts.ts';
import { CLOSED_POD, noDns, operatorContainer, pullSecrets } from './containers.ts';
import {
  executorUser,
  gatewayUrl,
  runtimeImage,
  runtimeOf,
  type ClaimRef,
  type ObjectsConfig,
  type RunContext,
} from './context.ts';
import { executorContainer, sharedMounts, sharedVolumes } from './executor-container.ts';
import { onClaimsNode, QUEUE_LABEL, readPodTemplate } from './pod-template.ts';
import { agentDiskBytes, harnessResources } from './resources.ts';
import { podSecurity } from './security.ts';
import { activeDeadlineSeconds } from '../trial/clocks.ts';
import { claimVolume, ownTmp, runMount } from './volumes.ts';

export interface TrialPodInput {
  readonly run: RunContext;
  readonly config: ObjectsConfig;
  readonly claim: ClaimRef;
  readonly trial: { readonly name: string; readonly scenarioId: string };
  /** 1-based. */
  readonly attempt: number;
  readonly timeouts: ResolvedTimeouts;
  /** Of the run's gateway; null where it has none. `token` is the attempt's own. */
  readonly gateway: { readonly clusterIP: string; readonly token: string } | null;
}

/**
 * The pod of one attempt: `harness` and `executor`.
 *
 * Nothing of it can be read that the agent must not see: the executor mounts no part of the volume, and the harness
 * only the public scenario and its own trial's folder (and the scenario's scripts, for the scripted runtime).
 *
 * @throws InvalidInputError when the run's specification cannot become a pod
 */
export function trialPod(input: TrialPodInput): PodDraft {
  const { run, config, claim, trial, attempt, timeouts, gateway } = input;
  const template = readPodTemplate(run.spec.runtime.podTemplate);
  const executor = executorContainer(run, config, timeouts);
  const harness = harnessContainer(input);
  const uid = executorUser(run);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: podName(trial.name, attempt),
      namespace: run.namespace,
      labels: {
        ...template.labels,
        ...runChildLabels(run),
        [LABELS.TRIAL]: trial.name,
        [LABELS.ATTEMPT]: String(attempt),
        ...(run.spec.queueName === undefined ? {} : { [QUEUE_LABEL]: run.spec.queueName }),
      },
      ...(Object.keys(template.annotations).length === 0 ? {} : { annotations: { ...template.annotations } }),
      ownerReferences: [runOwnerReference(run)],
    },
    spec: {
      ...onClaimsNode(run, claim, template.placement),
      ...CLOSED_POD,
      ...names(run, gateway),
      ...pullSecrets(config),
      restartPolicy: 'Never',
      activeDeadlineSeconds: activeDeadlineSeconds(timeouts),
      terminationGracePeriodSeconds: config.gracePeriodSeconds,
      securityContext: { ...template.securityContext, ...podSecurity(uid) },
      ...(executor.init.length === 0 ? {} : { initContainers: executor.init }),
      containers: [harness.container, executor.container],
      volumes: [claimVolume(claim), ...sharedVolumes(run, config), ...harness.volumes, ...executor.volumes],
    },
  };
}

/** The gateway is named by a line of /etc/hosts; other names resolve only where the run opens the network. */
function names(run: RunContext, gateway: TrialPodInput['gateway']) {
  const hostAliases =
    gateway === null
      ? {}
      : { hostAliases: [{ ip: gateway.clusterIP, hostnames: [gatewayServiceName(run.uid)] }] };
  // The node's own servers: names of the cluster's Services stay unknown.
  const dns = run.spec.network.egress === 'ModelOnly' ? noDns() : { dnsPolicy: 'Default' };
  return { ...hostAliases, ...dns };
}

function harnessContainer(input: TrialPodInput): { container: Container; volumes: Volume[] } {
  const { run, config, trial, gateway } = input;
  const tmp = ownTmp(CONTAINERS.harness, '256Mi');
  const scripted =
    runtimeOf(run) === 'scripted'
      ? [runMount(run, (at) => at.suite.scriptedDir(trial.scenarioId), MOUNTS.scripted, 'ro')]
      : [];
  return {
    container: operatorContainer(config, {
      name: CONTAINERS.harness,
      args: ['harness'],
      request: harnessRequest(input),
      uid: executorUser(run),
      resources: harnessResources(config),
      env: gateway === null ? [] : [{ name: ENV.GATEWAY_TOKEN, value: gateway.token }],
      mounts: [
        runMount(run, (at) => at.suite.publicDir(trial.scenarioId), MOUNTS.public, 'ro'),
        ...scripted,
        runMount(run, (at) => at.trial(trial.name).root, MOUNTS.trial, 'rw'),
        ...sharedMounts('harness'),
        tmp.mount,
      ],
    }),
    volumes: [tmp.volume],
  };
}

function harnessRequest(input: TrialPodInput): HarnessRequest {
  const { run, config, trial, attempt, timeouts, gateway } = input;
  const { podTemplate: _pod, resources: _resources, ...runtime } = run.spec.runtime;
  return {
    trial: trial.name,
    attempt,
    scenarioId: trial.scenarioId,
    runtime: { ...runtime, id: runtimeOf(run) },
    modelId: run.spec.model?.id ?? null,
    gatewayUrl: gateway === null ? null : gatewayUrl(run),
    timeouts,
    // Memory is held by the container's own limit; nothing in a pod bounds processes.
    limits: { memoryBytes: null, pids: DEFAULT_LIMITS.pids, diskBytes: agentDiskBytes(run.spec, config) },
    runtimeImage: runtimeImage(run, config),
  };
}
