import type { Container, EnvVar, PodSpec, ResourceRequirements, VolumeMount } from './kubernetes.ts';
import { InvalidInputError } from '../../api/errors.ts';
import { ENV, type CONTAINERS } from '../../api/pod-contract.ts';
import type { ObjectsConfig } from './context.ts';
import { operatorSecurity } from './security.ts';

/** Linux takes no longer string into a program's environment than 128 KiB, name and NUL included. */
const ENV_BYTES = 128 * 1024;

export type ContainerName = (typeof CONTAINERS)[keyof typeof CONTAINERS];

/**
 * The variable with a container's request.
 *
 * @throws InvalidInputError when it is longer than a program's environment may be
 */
export function requestEnv(request: unknown): EnvVar {
  const value = JSON.stringify(request);
  const bytes = Buffer.byteLength(value) + ENV.REQUEST.length + 2;
  if (bytes > ENV_BYTES) {
    throw new InvalidInputError({
      field: 'spec',
      message: `the specification takes ${bytes} bytes, and a container can be told ${ENV_BYTES} at most`,
      remedy: 'Shorten the lists of scenario ids (select by dimension, tag or profile) or runtime.config.',
    });
  }
  return { name: ENV.REQUEST, value };
}

/** Who and where the pod is, from the downward API. */
export function identityEnv(): EnvVar[] {
  const field = (name: string, fieldPath: string): EnvVar => ({
    name,
    valueFrom: { fieldRef: { fieldPath } },
  });
  return [
    field(ENV.POD_UID, 'metadata.uid'),
    field(ENV.POD_NAME, 'metadata.name'),
    field(ENV.POD_NAMESPACE, 'metadata.namespace'),
    field(ENV.NODE_NAME, 'spec.nodeName'),
  ];
}

/** A container that runs the operator's program. */
export function operatorContainer(
  config: Pick<ObjectsConfig, 'operatorImage' | 'defaultImagePullPolicy'>,
  parts: {
    readonly name: ContainerName;
    readonly args: readonly string[];
    readonly request: unknown;
    readonly resources: ResourceRequirements;
    readonly mounts: readonly VolumeMount[];
    readonly env?: readonly EnvVar[];
    readonly uid?: number;
    readonly image?: string;
  },
): Container {
  return {
    name: parts.name,
    image: parts.image ?? config.operatorImage,
    imagePullPolicy: config.defaultImagePullPolicy,
    args: [...parts.args],
    env: [requestEnv(parts.request), ...identityEnv(), ...(parts.env ?? [])],
    resources: parts.resources,
    securityContext: operatorSecurity(parts.uid),
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    volumeMounts: [...parts.mounts],
  };
}

/** What every pod of a run has in common: no token by itself, no names of services, none of the host's namespaces. */
export const CLOSED_POD = {
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  hostNetwork: false,
  hostPID: false,
  hostIPC: false,
  shareProcessNamespace: false,
} as const satisfies Partial<PodSpec>;

/**
 * A pod that resolves no names. Kubernetes wants a server with `dnsPolicy: None`; on the loopback device nobody
 * answers, so that a look-up fails at once instead of after seconds.
 */
export function noDns(): Pick<PodSpec, 'dnsPolicy' | 'dnsConfig'> {
  return {
    dnsPolicy: 'None',
    dnsConfig: {
      nameservers: ['127.0.0.1'],
      options: [
        { name: 'timeout', value: '1' },
        { name: 'attempts', value: '1' },
      ],
    },
  };
}

/** Secrets that images are pulled with, beside those of the namespace's account. */
export function pullSecrets({
  imagePullSecrets,
}: Pick<ObjectsConfig, 'imagePullSecrets'>): Pick<PodSpec, 'imagePullSecrets'> {
  return imagePullSecrets.length === 0
    ? {}
    : { imagePullSecrets: imagePullSecrets.map((name) => ({ name })) };
}
