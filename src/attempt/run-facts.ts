import type { BenchmarkRunSpec } from '../api/benchmark-run.ts';
import type { RunRecord } from '../api/run.ts';
import { resolveTimeouts } from '../api/timeouts.ts';
import { OPERATOR_VERSION } from '../api/version.ts';
import type { RuntimeAdapter } from '../runtimes/adapter.ts';
import { routeFacts } from '../runtimes/route-facts.ts';
import type { Selection } from '../suite/select.ts';

/** Facts about the place where agents run: a machine, or a cluster. */
export type PlaceFacts = Pick<
  RunRecord['facts'],
  | 'runtimeImageDigest'
  | 'isolation'
  | 'cleanupPolicy'
  | 'cpuLimit'
  | 'memoryLimit'
  | 'egress'
  | 'host'
  | 'suiteRoot'
>;

/** What provenance needs to know beside the records: as it is when the run starts. */
export function runFacts(
  spec: BenchmarkRunSpec,
  adapter: RuntimeAdapter,
  selection: Selection,
  place: PlaceFacts,
): RunRecord['facts'] {
  const overridden = selection.scenarios.some(
    ({ scenario }) => resolveTimeouts(spec.timeouts, { turn: scenario.timeout_seconds }).overridden,
  );
  return {
    operatorVersion: OPERATOR_VERSION,
    runtimeId: adapter.id,
    runtimeVersion: runtimeVersionOf(adapter),
    adapterVersion: adapter.version,
    ...place,
    ...routeFacts(spec.runtime, spec.model),
    timeoutsOverridden: overridden,
    surfacesOffered: [...adapter.surfaces],
  };
}

/** The scripted agent is part of this program; a real runtime states its own version through its adapter. */
export function runtimeVersionOf(adapter: Pick<RuntimeAdapter, 'id'>): string {
  return adapter.id === 'scripted' ? OPERATOR_VERSION : 'unavailable';
}
