import type { ObjectsConfig } from './context.ts';
import type { ResourceRequirements } from './kubernetes.ts';
import { parseBytes, quantityValue } from '../../attempt/agent-limits.ts';
import type { BenchmarkRunSpec, RuntimeSpec } from '../../api/benchmark-run.ts';
import { InvalidInputError, type InputProblem } from '../../api/errors.ts';

type Quantities = Readonly<Record<string, string>>;
export type ResourcesSpec = NonNullable<RuntimeSpec['resources']>;

const MEBI = 1024 ** 2;
/** Ephemeral storage that a pod asks for: without it the limit would be asked for, and few pods would fit a node. */
const EPHEMERAL_REQUEST = '64Mi';

/**
 * Requests and limits of the operator's own containers. Requests are small, so that eight trials fit a node of
 * two cores; there is no CPU limit, because throttling would change what is measured.
 */
export const OPERATOR_RESOURCES = {
  prepare: own('50m', '128Mi', '1Gi', '1Gi'),
  publish: own('20m', '96Mi', '1Gi', '512Mi'),
  gateway: own('20m', '96Mi', '512Mi', '512Mi'),
  reader: own('10m', '64Mi', '256Mi', '256Mi'),
  copyNode: own('20m', '32Mi', '128Mi', '256Mi'),
} as const satisfies Record<string, ResourceRequirements>;

function own(cpu: string, memory: string, memoryLimit: string, diskLimit: string) {
  return {
    requests: { cpu, memory, 'ephemeral-storage': EPHEMERAL_REQUEST },
    limits: { memory: memoryLimit, 'ephemeral-storage': diskLimit },
  };
}

type TrialConfig = Pick<ObjectsConfig, 'defaultResources'>;

/** Bytes that an agent's folders may take: what the run says, else the installation. The harness watches it. */
export function agentDiskBytes(spec: Pick<BenchmarkRunSpec, 'runtime'>, config: TrialConfig): number {
  const given = spec.runtime.resources?.limits?.['ephemeral-storage'];
  return given === undefined
    ? parseBytes(
        config.defaultResources.executor.limits['ephemeral-storage'],
        'defaultResources.executor.limits.ephemeral-storage',
      )
    : parseBytes(given, 'spec.runtime.resources.limits.ephemeral-storage');
}

/** Bytes at which the kubelet would evict: above the agent's own bound, so that the harness ends the attempt first. */
export function diskCeiling(spec: Pick<BenchmarkRunSpec, 'runtime'>, config: TrialConfig): number {
  const bytes = agentDiskBytes(spec, config);
  return bytes + Math.max(Math.ceil(bytes / 4), 512 * MEBI);
}

/**
 * Resources of the executor: `spec.runtime.resources` over the installation's. The limit of ephemeral storage is
 * the ceiling above what the run says, for the harness watches the run's own bound.
 *
 * @throws InvalidInputError for a quantity that is none, and for requests above limits
 */
export function executorResources(
  spec: Pick<BenchmarkRunSpec, 'runtime'>,
  config: TrialConfig,
): ResourceRequirements {
  const { requests, limits } = config.defaultResources.executor;
  return merged(spec.runtime.resources ?? {}, 'spec.runtime.resources', {
    requests,
    limits: definedOnly(limits),
    // Before a quantity was found wrong, there is no ceiling to say.
    fixedLimits: () => ({ 'ephemeral-storage': String(diskCeiling(spec, config)) }),
  });
}

/** Resources of the harness, as the installation has them. */
export function harnessResources(config: TrialConfig): ResourceRequirements {
  const { requests, limits } = config.defaultResources.harness;
  return { requests: { ...requests }, limits: definedOnly(limits) };
}

/**
 * Resources of the container that grades: `spec.scoring.resources` over the defaults.
 *
 * @throws InvalidInputError as executorResources does
 */
export function scoringResources(spec: Pick<BenchmarkRunSpec, 'scoring'>): ResourceRequirements {
  return merged(spec.scoring.resources ?? {}, 'spec.scoring.resources', {
    requests: { cpu: '100m', memory: '256Mi', 'ephemeral-storage': EPHEMERAL_REQUEST },
    limits: { memory: '2Gi', 'ephemeral-storage': '4Gi' },
    fixedLimits: () => ({}),
  });
}

interface ResourceDefaults {
  readonly requests: Quantities;
  readonly limits: Quantities;
  /** Stand whatever the run says. Asked for once every quantity is known to be one. */
  readonly fixedLimits: () => Quantities;
}

function merged(given: ResourcesSpec, field: string, defaults: ResourceDefaults): ResourceRequirements {
  refuse(notQuantities(given, field));
  const limits: Record<string, string> = { ...defaults.limits, ...given.limits, ...defaults.fixedLimits() };
  const exceeds = (name: string, quantity: string) =>
    (quantityValue(quantity) ?? 0) > (quantityValue(limits[name] ?? '') ?? Infinity);
  refuse(
    Object.entries(given.requests ?? {})
      .filter(([name, quantity]) => exceeds(name, quantity))
      .map(([name, quantity]) => ({
        field: `${field}.requests.${name}`,
        message: `${quantity} is more than the limit of ${limits[name] ?? ''}`,
        remedy: `Raise ${field}.limits.${name}, or ask for less.`,
      })),
  );
  const requests: Record<string, string> = {};
  for (const [name, quantity] of Object.entries(defaults.requests)) {
    requests[name] = exceeds(name, quantity) ? (limits[name] ?? quantity) : quantity;
  }
  return { requests: { ...requests, ...given.requests }, limits };
}

function notQuantities(given: ResourcesSpec, field: string): InputProblem[] {
  return (['requests', 'limits'] as const).flatMap((kind) =>
    Object.entries(given[kind] ?? {})
      .filter(([, quantity]) => quantityValue(quantity) === undefined)
      .map(([name, quantity]) => ({
        field: `${field}.${kind}.${name}`,
        message: `${JSON.stringify(quantity)} is not a quantity`,
        remedy: 'Write a number, with a unit where needed, such as 250m, 512Mi or 2Gi.',
      })),
  );
}

function refuse([first, ...rest]: readonly InputProblem[]): void {
  if (first !== undefined) throw new InvalidInputError([first, ...rest]);
}

function definedOnly(limits: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(limits).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
