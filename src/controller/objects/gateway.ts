import type {
  DeploymentDraft,
  EnvVar,
  SecretDraft,
  ServiceDraft,
  Volume,
  VolumeMount,
} from './kubernetes.ts';
import type { ModelSpec } from '../../api/benchmark-run.ts';
import type { GatewayRequest } from '../../api/container-requests.ts';
import { gatewayServiceName, LABELS, runChildName, runLabel } from '../../api/names.ts';
import { CONTAINERS, ENV, MOUNTS, PORTS } from '../../api/pod-contract.ts';
import { runChildLabels, runChildMetadata } from '../../api/run-children.ts';
import { operatorContainer } from './containers.ts';
import type { ClaimRef, ObjectsConfig, RunContext } from './context.ts';
import { operatorPodSpec } from './operator-pod.ts';
import { operatorPlacement } from './pod-template.ts';
import { OPERATOR_RESOURCES } from './resources.ts';
import { claimVolume, ownTmp, runMount } from './volumes.ts';

const SECRET_KEY = 'key';
const SECRET_LENGTH = 32;
/** Seconds in which calls under way may end. */
const GRACE_SECONDS = 30;
const COMPONENT = 'gateway';

/** What selects the gateway's pod, and nothing else. */
export function gatewaySelector(run: Pick<RunContext, 'name'>): Record<string, string> {
  return { [LABELS.RUN]: runLabel(run.name), [LABELS.COMPONENT]: COMPONENT };
}

/**
 * The Secret that the tokens of the run's attempts are signed with.
 *
 * @param secret random text of at least 32 characters
 */
export function gatewaySecret(run: RunContext, secret: string): SecretDraft {
  if (secret.length < SECRET_LENGTH)
    throw new RangeError(`a secret of ${SECRET_LENGTH} characters is needed`);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: runChildMetadata(run, runChildName(run.name, COMPONENT), COMPONENT),
    type: 'Opaque',
    immutable: true,
    data: { [SECRET_KEY]: Buffer.from(secret).toString('base64') },
  };
}

/** What gatewaySecret was given, or null when the Secret does not hold it. */
export function readGatewaySecret(secret: Pick<SecretDraft, 'data'>): string | null {
  const text = Buffer.from(secret.data?.[SECRET_KEY] ?? '', 'base64').toString();
  return text.length < SECRET_LENGTH ? null : text;
}

export function gatewayService(run: RunContext): ServiceDraft {
  const port = (name: string, number: number) => ({ name, port: number, targetPort: name, protocol: 'TCP' });
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: runChildMetadata(run, gatewayServiceName(run.uid), COMPONENT),
    spec: {
      type: 'ClusterIP',
      selector: gatewaySelector(run),
      ports: [
        port('model', PORTS.gatewayModel),
        port('control', PORTS.gatewayControl),
        port('metrics', PORTS.metrics),
      ],
    },
  };
}

/**
 * The gateway: the only pod that holds the provider's key. One replica that is ended before another starts, because
 * it alone writes the journal from which budgets are counted.
 *
 * @param replicas 0 once every trial has ended
 */
export function gatewayDeployment(
  run: RunContext,
  config: ObjectsConfig,
  claim: ClaimRef,
  replicas: 0 | 1 = 1,
): DeploymentDraft {
  const name = runChildName(run.name, COMPONENT);
  const tmp = ownTmp(CONTAINERS.gateway, '256Mi');
  const { model } = run.spec;
  if (model === undefined) throw new RangeError(`run ${run.name} calls no model, so it has no gateway`);
  const cassette = cassetteOf(model);
  const request: GatewayRequest = { runName: run.name, runUID: run.uid, model, journalDir: MOUNTS.journal };
  const container = operatorContainer(config, {
    name: CONTAINERS.gateway,
    args: ['gateway'],
    request,
    resources: OPERATOR_RESOURCES.gateway,
    env: [
      { name: ENV.GATEWAY_SECRET, valueFrom: { secretKeyRef: { name, key: SECRET_KEY } } },
      ...providerKey(model),
    ],
    mounts: [
      runMount(run, (at) => at.gateway, MOUNTS.journal, 'rw'),
      ...scripts(run),
      ...cassette.mounts,
      tmp.mount,
    ],
  });
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: runChildMetadata(run, name, COMPONENT),
    spec: {
      replicas,
      strategy: { type: 'Recreate' },
      revisionHistoryLimit: 0,
      selector: { matchLabels: gatewaySelector(run) },
      template: {
        metadata: { labels: runChildLabels(run, COMPONENT) },
        spec: operatorPodSpec(config, {
          ...operatorPlacement(run, claim),
          terminationGracePeriodSeconds: GRACE_SECONDS,
          containers: [
            {
              ...container,
              ports: [
                { name: 'model', containerPort: PORTS.gatewayModel },
                { name: 'control', containerPort: PORTS.gatewayControl },
                { name: 'metrics', containerPort: PORTS.metrics },
                { name: 'health', containerPort: PORTS.health },
              ],
              readinessProbe: { httpGet: { path: '/readyz', port: 'health' }, periodSeconds: 2 },
              livenessProbe: {
                httpGet: { path: '/healthz', port: 'health' },
                // The journal is read before anything answers, and may be long.
                initialDelaySeconds: 30,
                periodSeconds: 10,
                failureThreshold: 6,
              },
            },
          ],
          volumes: [claimVolume(claim), ...cassette.volumes, tmp.volume],
        }),
      },
    },
  };
}

/** The provider's key, from the Secret that the run names. */
function providerKey({ apiKeySecretRef }: ModelSpec): EnvVar[] {
  if (apiKeySecretRef === undefined) return [];
  return [{ name: ENV.API_KEY, valueFrom: { secretKeyRef: { ...apiKeySecretRef } } }];
}

/** The scripted model answers from the scripts of all scenarios. */
function scripts(run: RunContext): VolumeMount[] {
  return run.spec.model?.api === 'scripted'
    ? [runMount(run, (at) => at.suite.scriptedDir(''), MOUNTS.scripted, 'ro')]
    : [];
}

function cassetteOf(model: ModelSpec): { volumes: Volume[]; mounts: VolumeMount[] } {
  const { mode = 'off', claim } = model.cassette ?? {};
  if (mode === 'off' || claim === undefined) return { volumes: [], mounts: [] };
  const name = 'cassette';
  return {
    volumes: [{ name, persistentVolumeClaim: { claimName: claim } }],
    mounts: [{ name, mountPath: MOUNTS.cassette, readOnly: mode === 'replay' }],
  };
}
