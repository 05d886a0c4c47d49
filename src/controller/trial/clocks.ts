import type { ResolvedTimeouts } from '../../api/timeouts.ts';
import { hasStarted, type ContainerFacts, type PodFacts } from './pod-facts.ts';

/*
 * The clocks that the controller keeps of an attempt, as arithmetic over what the API server holds. Queueing counts
 * from the pod's creation, starting from its scheduling; once both containers run the harness keeps every clock, and
 * what is left here is a backstop for harnesses and nodes that do not.
 */

/** What the API server's events say of a pod that does not start; the newest of each kind. */
export interface PodEvent {
  readonly reason: string;
  readonly message: string;
}

/** Where an attempt stands before its end. Times are milliseconds since the epoch. */
export type Standing =
  | {
      readonly stage: 'queued' | 'starting';
      /** What it waits for, for people. */
      readonly waitsFor: string;
      /** When the stage began. */
      readonly since: number;
      readonly deadline: number;
      readonly obstacle: 'image' | 'mount' | null;
    }
  | { readonly stage: 'running'; readonly deadline: number };

/** Beyond all clocks of the harness, so that it is never the first to end an attempt in order. */
const BACKSTOP_SLACK_SECONDS = 150;
/** Beyond activeDeadlineSeconds, which the kubelet keeps. */
const CONTROLLER_SLACK_SECONDS = 120;

/** `activeDeadlineSeconds` of a trial's pod: counted by the kubelet from the pod's start. */
export function activeDeadlineSeconds({ start, wall, collect }: ResolvedTimeouts): number {
  return Math.ceil(start + wall + collect + BACKSTOP_SLACK_SECONDS);
}

/** Reasons for which a container waits, and what stands in the way. Others are ordinary steps of a start. */
const OBSTACLES: Readonly<Record<string, { obstacle: 'image' | 'mount'; patienceSeconds: number }>> = {
  // Nobody can mend these but by another pod.
  InvalidImageName: { obstacle: 'image', patienceSeconds: 0 },
  ErrImageNeverPull: { obstacle: 'image', patienceSeconds: 0 },
  // A registry or a node may recover: as long as the start may take.
  ErrImagePull: { obstacle: 'image', patienceSeconds: Infinity },
  ImagePullBackOff: { obstacle: 'image', patienceSeconds: Infinity },
  ImageInspectError: { obstacle: 'image', patienceSeconds: Infinity },
  RegistryUnavailable: { obstacle: 'image', patienceSeconds: Infinity },
  // A Secret or ConfigMap that is not there: it was there when the controller looked, so it may come back.
  CreateContainerConfigError: { obstacle: 'mount', patienceSeconds: 60 },
  CreateContainerError: { obstacle: 'mount', patienceSeconds: 60 },
  FailedMount: { obstacle: 'mount', patienceSeconds: 180 },
  FailedAttachVolume: { obstacle: 'mount', patienceSeconds: 180 },
  FailedMapVolume: { obstacle: 'mount', patienceSeconds: 180 },
};

/** Events of a pod that say why it does not start; a container's state never tells of a volume. */
export const TELLING_EVENTS: ReadonlySet<string> = new Set([
  'FailedMount',
  'FailedAttachVolume',
  'FailedMapVolume',
]);

/** Where the attempt of a pod stands, and until when it may. `event` is the last that tells of a volume. */
export function standing(pod: PodFacts, timeouts: ResolvedTimeouts, event: PodEvent | null): Standing {
  const { scheduling } = pod;
  if (scheduling.state !== 'scheduled') {
    return {
      stage: 'queued',
      waitsFor: [QUEUED_REASON[scheduling.state], scheduling.message]
        .filter((text) => text !== '')
        .join(': '),
      since: pod.createdAt,
      deadline: pod.createdAt + timeouts.queued * 1000,
      obstacle: null,
    };
  }
  if (hasStarted(pod)) {
    const backstop = activeDeadlineSeconds(timeouts) + CONTROLLER_SLACK_SECONDS;
    return { stage: 'running', deadline: scheduling.at + backstop * 1000 };
  }
  const last = waitingReason(pod.harness) ?? waitingReason(pod.executor);
  const shown = last !== undefined && OBSTACLES[last.reason] !== undefined ? last : (event ?? last);
  const obstacle = shown === undefined ? undefined : OBSTACLES[shown.reason];
  const patience = Math.min(timeouts.start, obstacle?.patienceSeconds ?? Infinity);
  return {
    stage: 'starting',
    waitsFor: shown === undefined ? 'ContainersNotCreated' : describe(shown),
    since: scheduling.at,
    deadline: scheduling.at + patience * 1000,
    obstacle: obstacle?.obstacle ?? null,
  };
}

const QUEUED_REASON = {
  gated: 'SchedulingGated',
  unschedulable: 'Unschedulable',
  waiting: 'AwaitingScheduler',
} as const;

function waitingReason(container: ContainerFacts): PodEvent | undefined {
  return container.state === 'waiting' && container.reason !== '' ? container : undefined;
}

function describe({ reason, message }: PodEvent): string {
  return message === '' ? reason : `${reason}: ${message}`;
}

/** Whether two texts of `waitsFor` tell of the same obstacle: kubelets turn such words to and fro every few seconds. */
export function sameObstacle(left: string, right: string): boolean {
  const obstacle = (text: string) => OBSTACLES[text.split(':', 1)[0] ?? '']?.obstacle;
  return left === right || (obstacle(left) !== undefined && obstacle(left) === obstacle(right));
}
