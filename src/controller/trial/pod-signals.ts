import type { PodSignals } from '../../attempt/failure-class.ts';
import type { ContainerFacts, PodFacts } from './pod-facts.ts';

/** Exit code of a process that died of SIGKILL, which is how the kernel kills for memory. */
const KILLED = 137;

/** What only the controller knows of an attempt, beside its pod. */
export interface AttemptCircumstances {
  /** The pod is gone, by a live read or by the deletion that the cache saw. */
  readonly lost: boolean;
  /** The run was cancelled, or is being deleted, while the attempt ran. */
  readonly cancelled: boolean;
  readonly gatewayDown: boolean;
  /** The harness says that it was asked to end, and by whom it cannot know. */
  readonly interrupted: boolean;
  /** The bound that the controller ended the attempt for. */
  readonly bound: 'queued' | 'start' | 'active' | null;
  /** What kept the pod from starting when the bound passed. */
  readonly obstacle: 'image' | 'mount' | null;
}

/** Reads exit code, reason and signal together into what the failure-class table knows. */
export function podSignals(pod: PodFacts | null, circumstances: AttemptCircumstances): PodSignals {
  const { lost, cancelled, gatewayDown, interrupted, bound, obstacle } = circumstances;
  const harness = pod === null ? undefined : terminatedState(pod.harness, [KILLED]);
  const executor = pod === null ? undefined : terminatedState(pod.executor, [0, KILLED]);
  return {
    ...(harness === undefined ? {} : { harnessTerminated: harness }),
    ...(executor === undefined ? {} : { executorTerminated: executor }),
    ...(pod?.reason === 'Evicted' ? { evicted: { ownLimit: pod.disruption === null } } : {}),
    // Who ends a pod takes it away, with or without a condition: such attempts have a bound, unlike those on one machine.
    disrupted: (pod?.disruption ?? null) !== null || (interrupted && !cancelled),
    activeDeadline: bound === 'active' || pod?.reason === 'DeadlineExceeded',
    queuedDeadline: bound === 'queued',
    startDeadline: bound === 'start',
    imageFailed: obstacle === 'image',
    mountFailed: obstacle === 'mount',
    lost,
    cancelled,
    gatewayDown,
  };
}

/**
 * The kubelet keeps the word `OOMKilled` of a child that died long before its container ended, so the exit code has to
 * agree. A harness has no children that may die of it; a shim ends with 0 after its agent was killed.
 */
function terminatedState(
  container: ContainerFacts,
  agreeing: readonly number[],
): { reason: string; exitCode: number } | undefined {
  if (container.state !== 'terminated') return undefined;
  const { reason, exitCode } = container;
  const stale = reason === 'OOMKilled' && !agreeing.includes(exitCode);
  return { reason: stale ? 'Error' : reason, exitCode };
}
