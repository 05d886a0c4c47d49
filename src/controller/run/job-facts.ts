import { stepReportSchema } from '../../api/step-report.ts';
import type { ContainerStatus, Job, Pod } from '../../kube/object.ts';
import type { JobFacts, ProbeFacts } from './observation.ts';
import { CONTAINERS } from '../../api/pod-contract.ts';

/** What has become of a Job, and what its pods said last. */
export function jobFacts(job: Job, pods: readonly Pod[]): JobFacts {
  const conditions = job.status?.conditions ?? [];
  const is = (type: string) => conditions.find((c) => c.type === type && c.status === 'True');
  const complete = is('Complete');
  // FailureTarget comes first, while its pod still ends: a round must not be made again before that.
  const failed = is('Failed');
  const end = complete ?? failed;
  const said =
    lastWords(pods) ?? (failed === undefined ? '' : `${failed.reason ?? ''}: ${failed.message ?? ''}`);
  return {
    uid: job.metadata.uid,
    state: complete !== undefined ? 'complete' : failed !== undefined ? 'failed' : 'active',
    createdAt: Date.parse(job.metadata.creationTimestamp),
    endedAt: end === undefined ? null : timeOf(end.lastTransitionTime, job.metadata.creationTimestamp),
    said,
  };
}

/** The newest failure of the containers of a Job's or Deployment's pods, else what the newest pod waits for. */
export function lastWords(pods: readonly Pod[]): string | undefined {
  const newest = [...pods].sort((left, right) => createdAt(right) - createdAt(left));
  for (const pod of newest) {
    for (const status of statusesOf(pod)) {
      const ended = status.state?.terminated ?? status.lastState?.terminated;
      if (ended !== undefined && ended.exitCode !== 0) {
        return `${status.name}: ${stepFailure(ended.message) ?? `${ended.reason ?? 'Error'}, exit code ${ended.exitCode}`}`;
      }
    }
  }
  const [last] = newest;
  return last === undefined ? undefined : waitsFor(last);
}

/** The sentence of a step's termination message; the raw end of it where it is none of ours. */
function stepFailure(message: string | undefined): string | undefined {
  if (message === undefined || message === '') return undefined;
  try {
    const report = stepReportSchema.safeParse(JSON.parse(message)).data;
    if (report?.ok === false) return `${report.reason}: ${report.message}`;
  } catch {
    // Not JSON: an image of others, or a program that died while it wrote.
  }
  return message.slice(-500);
}

function waitsFor(pod: Pod): string | undefined {
  const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (scheduled?.status === 'False')
    return `${scheduled.reason ?? 'Unschedulable'}: ${scheduled.message ?? ''}`;
  for (const { name, state } of statusesOf(pod)) {
    const { reason, message } = state?.waiting ?? {};
    if (reason !== undefined && reason !== 'PodInitializing' && reason !== 'ContainerCreating') {
      return `${name}: ${reason}${message === undefined ? '' : `: ${message}`}`;
    }
  }
  return undefined;
}

/** What the probe of a runtime's image came to. */
export function probeFacts(pod: Pod): ProbeFacts {
  const scheduled = pod.status?.conditions?.find(
    ({ type, status }) => type === 'PodScheduled' && status === 'True',
  );
  const status = pod.status?.containerStatuses?.find(({ name }) => name === CONTAINERS.probe);
  const ended = statusesOf(pod).find(
    ({ state }) => state?.terminated !== undefined && state.terminated.exitCode !== 0,
  );
  const base = {
    uid: pod.metadata.uid,
    since:
      scheduled === undefined
        ? createdAt(pod)
        : timeOf(scheduled.lastTransitionTime, pod.metadata.creationTimestamp),
    imageDigest: imageDigest(status),
  };
  const waiting = waitsFor(pod) ?? '';
  const stuck = FATAL_WAITS.find((reason) => waiting.includes(`: ${reason}`));
  if (stuck !== undefined) return { ...base, state: 'failed', reason: stuck, message: waiting };
  switch (pod.status?.phase) {
    case 'Succeeded':
      return { ...base, state: 'passed', reason: '', message: '' };
    case 'Failed': {
      const terminated = ended?.state?.terminated;
      const said =
        terminated?.message ?? pod.status.message ?? terminated?.reason ?? pod.status.reason ?? 'it failed';
      return {
        ...base,
        state: 'failed',
        reason: 'RuntimeImageUnusable',
        message: `the runtime image does not run: ${said.trim()} (exit code ${terminated?.exitCode ?? 'unknown'})`,
      };
    }
    case undefined:
    default:
      return {
        ...base,
        state: scheduled === undefined ? 'queued' : 'starting',
        reason: '',
        message: waiting,
      };
  }
}

/** Waits of a probe that no time mends; a pull may. */
const FATAL_WAITS = ['InvalidImageName', 'ErrImageNeverPull'] as const;

/** `sha256:...` of an image as the node resolved it; null where it is not known. */
export function imageDigest(status: Pick<ContainerStatus, 'imageID'> | undefined): string | null {
  return /sha256:[0-9a-f]{64}/.exec(status?.imageID ?? '')?.[0] ?? null;
}

function statusesOf(pod: Pod): ContainerStatus[] {
  return [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
}

function createdAt(pod: Pod): number {
  return Date.parse(pod.metadata.creationTimestamp);
}

function timeOf(time: string | undefined, otherwise: string): number {
  return Date.parse(time ?? otherwise);
}
