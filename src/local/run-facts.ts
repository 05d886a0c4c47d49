import { arch, platform, release } from 'node:os';
import type { BenchmarkRunSpec } from '../api/benchmark-run.ts';
import { agentLimits } from '../attempt/agent-limits.ts';
import type { PlaceFacts } from '../attempt/run-facts.ts';
import type { LocalHost } from './executor/local-host.ts';

/** What this machine is for a run's agents. */
export function placeFacts(spec: BenchmarkRunSpec, host: LocalHost, suiteRoot: string): PlaceFacts {
  return {
    runtimeImageDigest: 'unavailable',
    isolation: host.choice.isolation,
    cleanupPolicy: host.keep
      ? "the agents' folders are kept after collection"
      : 'every process is killed after each turn; the agent folder is removed after collection',
    cpuLimit: 'unavailable',
    memoryLimit: `${agentLimits(spec).memoryBytes} bytes`,
    egress: 'not enforced on one machine',
    host: `${platform()} ${release()} ${arch()}, Node.js ${process.version}`,
    suiteRoot,
  };
}
