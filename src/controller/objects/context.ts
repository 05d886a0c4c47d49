import type { BenchmarkRunSpec } from '../../api/benchmark-run.ts';
import type { ControllerConfig } from '../../api/controller-config.ts';
import { InvalidInputError } from '../../api/errors.ts';
import { gatewayServiceName } from '../../api/names.ts';
import { PORTS } from '../../api/pod-contract.ts';
import type { RunIdentity } from '../../api/run-children.ts';
import type { RuntimeId } from '../../api/vocabulary.ts';
import { resolveRuntimeId } from '../../runtimes/registry.ts';
import { executorUid } from '../../runtimes/executor-user.ts';

/** What of the controller's configuration shapes the objects of a run. */
export type ObjectsConfig = Pick<
  ControllerConfig,
  | 'operatorImage'
  | 'runtimeImages'
  | 'pythonImage'
  | 'defaultImagePullPolicy'
  | 'imagePullSecrets'
  | 'gracePeriodSeconds'
  | 'defaultStorage'
  | 'defaultResources'
  | 'metricsNamespaces'
  | 'apiServerCIDRs'
  | 'clusterCIDRs'
  | 'workerRoleKind'
> & {
  /** Namespace that the controller runs in: its pods call the gateway's control port. */
  readonly controllerNamespace: string;
};

/** A run, as its objects need it. */
export interface RunContext extends RunIdentity {
  /** metadata.creationTimestamp, ISO 8601. */
  readonly createdAt: string;
  /** Defaults filled in. */
  readonly spec: BenchmarkRunSpec;
}

/** The claim that holds a run's artifacts. */
export interface ClaimRef {
  readonly name: string;
  /** Only one node at a time can mount it, so every pod that does is bound to the others' node. */
  readonly coLocate: boolean;
}

/**
 * The run's runtime, aliases resolved.
 *
 * @throws InvalidInputError naming spec.runtime.id
 */
export function runtimeOf(run: Pick<RunContext, 'spec'>): RuntimeId {
  return resolveRuntimeId(run.spec.runtime.id);
}

/**
 * The image of the executor.
 *
 * @throws InvalidInputError when neither the run nor the installation names one
 */
export function runtimeImage(
  run: Pick<RunContext, 'spec'>,
  config: Pick<ObjectsConfig, 'runtimeImages'>,
): string {
  const id = runtimeOf(run);
  const image = run.spec.runtime.image ?? config.runtimeImages[id];
  if (image !== undefined) return image;
  throw new InvalidInputError({
    field: 'spec.runtime.image',
    message: `this installation knows no image for runtime ${id}`,
    remedy: `Name one in spec.runtime.image, or in the chart's value runtimeImages.${id}.`,
  });
}

/** User that executor and harness run as: what podTemplate.securityContext.runAsUser asks for, else the runtime's. */
export function executorUser(run: Pick<RunContext, 'spec'>): number {
  const wanted = run.spec.runtime.podTemplate?.securityContext?.['runAsUser'];
  return typeof wanted === 'number' ? wanted : executorUid(runtimeOf(run));
}

/** Whether the run calls a model, so that it has a gateway. */
export function needsGateway({ spec }: Pick<RunContext, 'spec'>): boolean {
  return spec.model !== undefined;
}

/** Where pods of the run reach its gateway; the name resolves by hostAliases only. */
export function gatewayUrl(run: Pick<RunContext, 'uid'>): string {
  return `http://${gatewayServiceName(run.uid)}:${PORTS.gatewayModel}`;
}
