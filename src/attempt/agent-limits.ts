import type { RuntimeSpec } from '../api/benchmark-run.ts';
import { InvalidInputError } from '../api/errors.ts';

/** What one agent may use when the run does not say: the same on one machine and in a pod. */
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
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
  Ti: 1024 ** 4,
  Pi: 1024 ** 5,
  Ei: 1024 ** 6,
};

/** Value of a Kubernetes quantity (`512Mi`, `250m`, `2e3`); undefined where it is none. */
export function quantityValue(quantity: string): number | undefined {
  const match = /^([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE]([+-]?[0-9]+)|([A-Za-z]*))$/.exec(quantity.trim());
  if (match === null) return undefined;
  const [, number = '', exponent, unit = ''] = match;
  const factor = exponent === undefined ? UNITS[unit] : 10 ** Number(exponent);
  return factor === undefined ? undefined : Number(number) * factor;
}

/**
 * Bytes of a Kubernetes quantity such as `512Mi`.
 *
 * @throws InvalidInputError naming `field`
 */
export function parseBytes(quantity: string, field: string): number {
  const value = quantityValue(quantity);
  if (value === undefined) {
    throw new InvalidInputError({
      field,
      message: `${JSON.stringify(quantity)} is not a quantity of bytes`,
      remedy: 'Write a number with a unit, such as 512Mi or 2Gi.',
    });
  }
  return Math.floor(value);
}

/** Bounds of an agent: `spec.runtime.resources.limits`, else the defaults. */
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
