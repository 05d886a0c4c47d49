import { LABELS } from '../../api/names.ts';
import { CONTAINERS } from '../../api/pod-contract.ts';
import type { ContainerStatus, Pod } from '../../kube/object.ts';

/** What one container of a pod is in. `absent`: the kubelet has said nothing of it yet. */
export type ContainerFacts =
  | { readonly state: 'absent' }
  | { readonly state: 'waiting'; readonly reason: string; readonly message: string }
  | { readonly state: 'running' }
  | {
      readonly state: 'terminated';
      readonly reason: string;
      readonly exitCode: number;
      readonly message: string;
      /** Milliseconds; null where the kubelet does not know. */
      readonly finishedAt: number | null;
    };

/** Where a pod stands with the scheduler. Held by a gate is not the same as finding no node. */
export type Scheduling =
  | { readonly state: 'scheduled'; readonly at: number }
  | { readonly state: 'gated' | 'unschedulable' | 'waiting'; readonly message: string };

/** A trial's pod, read once: everything plans look at. Times are milliseconds since the epoch. */
export interface PodFacts {
  readonly name: string;
  readonly uid: string;
  /** From its label; 0 where it has none, which is no pod of ours. */
  readonly attempt: number;
  readonly createdAt: number;
  readonly phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  /** Of the pod itself, e.g. `Evicted`, `DeadlineExceeded`. */
  readonly reason: string;
  readonly message: string;
  readonly scheduling: Scheduling;
  readonly nodeName: string;
  /** Reason of condition DisruptionTarget, e.g. `PreemptionByScheduler`; null without one. */
  readonly disruption: string | null;
  /** When the grace period of a deletion ends; null where nobody deleted it. */
  readonly deletedBy: number | null;
  readonly harness: ContainerFacts;
  readonly executor: ContainerFacts;
  /** A container was started again, which no pod of ours allows. An evicted pod shows 1 and was not. */
  readonly restarted: boolean;
}

/** Reads a pod of a trial. */
export function podFacts(pod: Pod): PodFacts {
  const { metadata, spec, status } = pod;
  const conditions = status?.conditions ?? [];
  const disruption = conditions.find((c) => c.type === 'DisruptionTarget' && c.status === 'True');
  const evicted = status?.reason === 'Evicted';
  const containers = status?.containerStatuses ?? [];
  return {
    name: metadata.name,
    uid: metadata.uid,
    attempt: Number(metadata.labels?.[LABELS.ATTEMPT] ?? 0) || 0,
    createdAt: Date.parse(metadata.creationTimestamp),
    phase: phaseOf(status?.phase),
    reason: status?.reason ?? '',
    message: status?.message ?? '',
    scheduling: schedulingOf(pod),
    nodeName: spec?.nodeName ?? '',
    disruption: disruption === undefined ? null : (disruption.reason ?? 'DisruptionTarget'),
    deletedBy: metadata.deletionTimestamp === undefined ? null : Date.parse(metadata.deletionTimestamp),
    harness: containerFacts(containers.find(({ name }) => name === CONTAINERS.harness)),
    executor: containerFacts(containers.find(({ name }) => name === CONTAINERS.executor)),
    restarted: !evicted && containers.some(({ name, restartCount }) => isOurs(name) && restartCount > 0),
  };
}

/** A pod that may still run something: it holds its slot, and no other attempt of its trial may start. */
export function isLive(pod: Pick<PodFacts, 'phase'>): boolean {
  return pod.phase !== 'Succeeded' && pod.phase !== 'Failed';
}

/** Whether both containers have been started: from here on the harness keeps all clocks of the attempt. */
export function hasStarted({ harness, executor }: Pick<PodFacts, 'harness' | 'executor'>): boolean {
  const begun = ({ state }: ContainerFacts) => state === 'running' || state === 'terminated';
  return begun(harness) && begun(executor);
}

/** The same for a raw pod, for counting slots without reading it whole. */
export function isLivePod(pod: Pod): boolean {
  return isLive({ phase: phaseOf(pod.status?.phase) });
}

export function containerFacts(status: ContainerStatus | undefined): ContainerFacts {
  const { state, lastState } = status ?? {};
  if (state?.running !== undefined) return { state: 'running' };
  // A container that waits to be started again has ended: what it ended with stands in lastState.
  const terminated = state?.terminated ?? lastState?.terminated;
  if (terminated !== undefined) {
    const finishedAt = Date.parse(terminated.finishedAt ?? '');
    return {
      state: 'terminated',
      reason: terminated.reason ?? '',
      exitCode: terminated.exitCode,
      message: terminated.message ?? '',
      finishedAt: Number.isNaN(finishedAt) ? null : finishedAt,
    };
  }
  if (state?.waiting !== undefined) {
    return { state: 'waiting', reason: state.waiting.reason ?? '', message: state.waiting.message ?? '' };
  }
  return { state: 'absent' };
}

function isOurs(container: string): boolean {
  return container === CONTAINERS.harness || container === CONTAINERS.executor;
}

function phaseOf(phase: string | undefined): PodFacts['phase'] {
  switch (phase) {
    case 'Running':
    case 'Succeeded':
    case 'Failed':
    case 'Unknown':
      return phase;
    case undefined:
    default:
      return 'Pending';
  }
}

function schedulingOf({ spec, status, metadata }: Pod): Scheduling {
  const condition = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (condition?.status === 'True') {
    return { state: 'scheduled', at: Date.parse(condition.lastTransitionTime ?? metadata.creationTimestamp) };
  }
  const message = condition?.message ?? '';
  if (condition?.reason === 'SchedulingGated' || (spec?.schedulingGates?.length ?? 0) > 0) {
    return { state: 'gated', message };
  }
  return { state: condition?.reason === 'Unschedulable' ? 'unschedulable' : 'waiting', message };
}
