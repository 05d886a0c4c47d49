import type { RuntimeSpec } from '../api/benchmark-run.ts';
import { InvalidInputError } from '../api/errors.ts';

/** What one agent may use when the run does not say. */
export const DEFAULT_LIMITS = {
  memoryBytes: 2 * 1024 ** 3,
  pids: 512,
  diskBytes: 1024 ** 3,
} as const;

export interface AgentLimits {
  readonly memoryBytes: number;
  readonly pids: number;
  readonly diskBytes: number;
}

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
  Ti: 1024 ** 4,
};

/**
 * Bytes of a Kubernetes quantity such as `512Mi`.
 *
 * @throws InvalidInputError naming `field`
 */
export function parseBytes(quantity: string, field: string): number {
  const [, number = '', unit = ''] = /^([0-9]+(?:\.[0-9]+)?)([A-Za-z]*)$/.exec(quantity.trim()) ?? [];
  const factor = UNITS[unit];
  if (number === '' || factor === undefined) {
    throw new InvalidInputError({
      field,
      message: `${JSON.stringify(quantity)} is not a quantity of bytes`,
      remedy: 'Write a number with a unit, such as 512Mi or 2Gi.',
    });
  }
  return Math.floor(Number(number) * factor);
}

/** Bounds of an agent: `spec.runtime.resources.limits` as in a pod, else the defaults. */
export function agentLimits(spec: { readonly runtime: Pick<RuntimeSpec, 'resources'> }): AgentLimits {
  const limits = spec.runtime.resources?.limits ?? {};
  const memory = limits['memory'];
  const disk = limits['ephemeral-storage'];
  return {
    memoryBytes:
      memory === undefined
        ? DEFAULT_LIMITS.memoryBytes
        : parseBytes(memory, 'spec.runtime.resources.limits.memory'),
    pids: DEFAULT_LIMITS.pids,
    diskBytes:
      disk === undefined
        ? DEFAULT_LIMITS.diskBytes
        : parseBytes(disk, 'spec.runtime.resources.limits.ephemeral-storage'),
  };
}
