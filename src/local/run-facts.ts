import { arch, platform, release } from 'node:os';
import type { BenchmarkRunSpec } from '../api/benchmark-run.ts';
import { OPERATOR_VERSION } from '../api/version.ts';
import type { RunRecord } from '../api/run.ts';
import { resolveTimeouts } from '../api/timeouts.ts';
import type { RuntimeAdapter } from '../runtimes/adapter.ts';
import { routeFacts } from '../runtimes/route-facts.ts';
import type { Selection } from '../suite/select.ts';
import type { LocalHost } from './executor/local-host.ts';
import { agentLimits } from '../api/agent-limits.ts';

/** What provenance needs to know and only the machine of the run can tell, as it is when the run starts. */
export function runFacts(
  spec: BenchmarkRunSpec,
  adapter: RuntimeAdapter,
  host: LocalHost,
  suiteRoot: string,
  selection: Selection,
): RunRecord['facts'] {
  const overridden = selection.scenarios.some(
    ({ scenario }) => resolveTimeouts(spec.timeouts, { turn: scenario.timeout_seconds }).overridden,
  );
  return {
    operatorVersion: OPERATOR_VERSION,
    runtimeId: adapter.id,
    // The scripted agent is part of this program; a real runtime states its own version through its adapter.
    runtimeVersion: adapter.id === 'scripted' ? OPERATOR_VERSION : 'unavailable',
    adapterVersion: adapter.version,
    runtimeImageDigest: 'unavailable',
    isolation: host.choice.isolation,
    cleanupPolicy: host.keep
      ? "the agents' folders are kept after collection"
      : 'every process is killed after each turn; the agent folder is removed after collection',
    cpuLimit: 'unavailable',
    memoryLimit: `${agentLimits(spec).memoryBytes} bytes`,
    egress: 'not enforced on one machine',
    ...routeFacts(spec.runtime, spec.model),
    timeoutsOverridden: overridden,
    host: `${platform()} ${release()} ${arch()}, Node.js ${process.version}`,
    suiteRoot,
    surfacesOffered: [...adapter.surfaces],
  };
}
