import type { ResourceRequirements } from './kubernetes.ts';
import { agentLimits, DEFAULT_LIMITS, quantityValue } from '../../attempt/agent-limits.ts';
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
  harness: own('20m', '128Mi', '512Mi', '512Mi'),
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

/** Bytes at which the kubelet would evict: above the agent's own bound, so that the harness ends the attempt first. */
export function diskCeiling(spec: Pick<BenchmarkRunSpec, 'runtime'>): number {
  const { diskBytes } = agentLimits(spec);
  return diskBytes + Math.max(Math.ceil(diskBytes / 4), 512 * MEBI);
}

/**
 * Resources of the executor: `spec.runtime.resources` over the defaults. The limit of ephemeral storage is the
 * ceiling above what the run says, for the harness watches the run's own bound.
 *
 * @throws InvalidInputError for a quantity that is none, and for requests above limits
 */
export function executorResources(spec: Pick<BenchmarkRunSpec, 'runtime'>): ResourceRequirements {
  const given = spec.runtime.resources ?? {};
  return merged(given, 'spec.runtime.resources', {
    requests: { cpu: '50m', memory: '128Mi', 'ephemeral-storage': EPHEMERAL_REQUEST },
    limits: { memory: String(DEFAULT_LIMITS.memoryBytes) },
    fixedLimits: { 'ephemeral-storage': String(diskCeiling(spec)) },
  });
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
    fixedLimits: {},
  });
}

function merged(
  given: ResourcesSpec,
  field: string,
  defaults: { readonly requests: Quantities; readonly limits: Quantities; readonly fixedLimits: Quantities },
): ResourceRequirements {
  const problems: InputProblem[] = [];
  const value = (quantity: string, where: string): number => {
    const parsed = quantityValue(quantity);
    if (parsed === undefined) {
      problems.push({
        field: where,
        message: `${JSON.stringify(quantity)} is not a quantity`,
        remedy: 'Write a number, with a unit where needed, such as 250m, 512Mi or 2Gi.',
      });
    }
    return parsed ?? 0;
  };
  for (const kind of ['requests', 'limits'] as const) {
    for (const [name, quantity] of Object.entries(given[kind] ?? {}))
      value(quantity, `${field}.${kind}.${name}`);
  }
  const limits: Record<string, string> = { ...defaults.limits, ...given.limits, ...defaults.fixedLimits };
  const requests: Record<string, string> = { ...given.requests };
  for (const [name, quantity] of Object.entries(defaults.requests)) {
    if (requests[name] !== undefined) continue;
    const limit = limits[name];
    const tooLow = limit !== undefined && (quantityValue(limit) ?? 0) < (quantityValue(quantity) ?? 0);
    requests[name] = tooLow ? limit : quantity;
  }
  for (const [name, quantity] of Object.entries(given.requests ?? {})) {
    const limit = limits[name];
    if (limit === undefined || (quantityValue(quantity) ?? 0) <= (quantityValue(limit) ?? Infinity)) continue;
    problems.push({
      field: `${field}.requests.${name}`,
      message: `${quantity} is more than the limit of ${limit}`,
      remedy: `Raise ${field}.limits.${name}, or ask for less.`,
    });
  }
  const [first, ...rest] = problems;
  if (first !== undefined) throw new InvalidInputError([first, ...rest]);
  return { requests, limits };
}
