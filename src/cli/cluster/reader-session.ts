import { randomBytes } from 'node:crypto';
import { benchmarkRunSpecSchema } from '../../api/benchmark-run.ts';
import { InfrastructureError, InvalidInputError, messageOf } from '../../api/errors.ts';
import { LABELS, runLabel } from '../../api/names.ts';
import { CONTAINERS, PORTS } from '../../api/pod-contract.ts';
import { claimAccess, claimName } from '../../controller/objects/claim.ts';
import type { ClaimRef } from '../../controller/objects/context.ts';
import { readerPod } from '../../controller/objects/reader-pod.ts';
import { isConflict, isNotFound } from '../../kube/errors.ts';
import type { Pod } from '../../kube/object.ts';
import { forwardPort } from '../../kube/port-forward.ts';
import { PERSISTENT_VOLUME_CLAIMS, PODS } from '../../kube/resource.ts';
import { ReaderClient } from '../download/reader-client.ts';
import type { Cluster } from './connect.ts';
import { ClusterUnusableError } from './failures.ts';
import type { RunObject } from './resources.ts';
import { shown } from './change-run.ts';

export interface ReaderSessionOptions {
  /** The operator's image; undefined takes the one that the run's provenance names. */
  readonly image: string | undefined;
  readonly pullSecrets: readonly string[];
  /** Milliseconds until the pod must run and answer. */
  readonly startMs: number;
  readonly signal: AbortSignal;
  /** What goes on, for people. */
  readonly say: (text: string) => void;
}

const POLL_MS = 300;

/**
 * Starts a reader pod on the run's volume, hands a way to read to `work`, and deletes the pod, however `work` ends.
 *
 * @throws InvalidInputError when the run has no volume or image to read with; InfrastructureError `ReaderPod` with the
 * cluster's own words when the pod does not start
 */
export async function withReader<Result>(
  cluster: Cluster,
  run: RunObject,
  options: ReaderSessionOptions,
  work: (reader: ReaderClient) => Promise<Result>,
): Promise<Result> {
  const draft = await readerPodOf(cluster, run, options);
  await sweepEnded(cluster, run);
  const { client } = cluster;
  const pod = await client.create(PODS, draft, { signal: options.signal });
  const ref = { namespace: pod.metadata.namespace ?? '', name: pod.metadata.name };
  try {
    options.say(`reading through pod ${ref.namespace}/${ref.name}`);
    await waitUntilRunning(cluster, pod, options);
    const reader = new ReaderClient(
      (signal) => forwardPort(client.access, ref, PORTS.reader, signal),
      options.signal,
    );
    try {
      await greetWhenListening(reader, options);
      return await work(reader);
    } finally {
      reader.close();
    }
  } finally {
    // Not by the signal: Ctrl-C must not leave it there. It would end by itself, too, when nobody reads.
    await client
      .delete(PODS, ref, { uid: pod.metadata.uid, gracePeriodSeconds: 0, timeoutMs: 10_000 })
      .catch((error: unknown) => {
        if (isNotFound(error) || isConflict(error)) return;
        options.say(
          `pod ${ref.namespace}/${ref.name} could not be deleted and ends by itself: ${messageOf(error)}`,
        );
      });
  }
}

async function readerPodOf({ client }: Cluster, run: RunObject, options: ReaderSessionOptions) {
  const { name, namespace = '', uid, creationTimestamp } = run.metadata;
  const parsed = benchmarkRunSpecSchema.safeParse(run.spec);
  if (!parsed.success) {
    throw new InvalidInputError({
      message: `the spec of ${shown(run)} is of another version of the operator (${parsed.error.issues[0]?.message ?? ''})`,
      remedy: "Use the clawbench of the operator's version.",
    });
  }
  const image = options.image ?? run.status?.provenance?.['operatorImage'];
  if (image === undefined) {
    throw new InvalidInputError({
      field: '--image',
      message: `${shown(run)} does not say yet which operator image it runs with`,
      remedy: 'Wait until the operator has looked at it, or name the image with --image.',
    });
  }
  const context = { name, namespace, uid, createdAt: creationTimestamp, spec: parsed.data };
  const claim = run.status?.claimName ?? claimName(context);
  const found = await client.find(PERSISTENT_VOLUME_CLAIMS, { namespace, name: claim });
  if (found === null) {
    throw new InvalidInputError({
      message: `the claim ${namespace}/${claim} of ${shown(run)} does not exist: nothing is stored yet, or it was deleted`,
    });
  }
  const access = claimAccess(found.spec?.accessModes ?? []);
  const ref: ClaimRef = { name: claim, coLocate: access.refused === null && access.coLocate };
  const config = {
    operatorImage: image,
    defaultImagePullPolicy: 'IfNotPresent' as const,
    imagePullSecrets: [...options.pullSecrets],
  };
  return readerPod(context, config, ref, randomBytes(4).toString('hex'));
}

/** Deletes readers that ended without whoever started them: killed, or cut off from the cluster. */
async function sweepEnded({ client }: Cluster, run: RunObject): Promise<void> {
  const { name, namespace = '' } = run.metadata;
  const labelSelector = `${LABELS.RUN}=${runLabel(name)},${LABELS.COMPONENT}=reader`;
  const { items } = await client.list(PODS, { namespace, labelSelector });
  for (const pod of items) {
    if (pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed') continue;
    await client.delete(PODS, pod.metadata, { uid: pod.metadata.uid }).catch((error: unknown) => {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    });
  }
}

async function waitUntilRunning(
  { client }: Cluster,
  { metadata }: Pod,
  { startMs, signal }: ReaderSessionOptions,
): Promise<void> {
  const until = performance.now() + startMs;
  for (;;) {
    const pod = await client.get(PODS, metadata, { signal });
    const standing = standingOf(pod);
    if (standing.kind === 'running') return;
    if (standing.kind === 'hopeless' || performance.now() > until) {
      const why = standing.why === '' ? 'the cluster does not say why' : standing.why;
      throw new InfrastructureError('ReaderPod', `the reader pod ${metadata.name} does not start: ${why}`);
    }
    await pause(POLL_MS, signal);
  }
}

type Standing =
  | { readonly kind: 'running'; readonly why: '' }
  | { readonly kind: 'waiting' | 'hopeless'; readonly why: string };

/** Whether a reader pod runs, may still come, or never will; with the words of scheduler and kubelet. */
export function standingOf(pod: Pod): Standing {
  const { phase, conditions = [], containerStatuses = [], reason, message } = pod.status ?? {};
  if (phase === 'Failed' || phase === 'Succeeded') {
    const ended = containerStatuses.find(({ name }) => name === CONTAINERS.reader)?.state?.terminated;
    const words = [reason, message, ended?.reason, ended?.message].filter((word) => Boolean(word));
    return { kind: 'hopeless', why: `it ended (${words.join(': ') || 'without a reason'})` };
  }
  const state = containerStatuses.find(({ name }) => name === CONTAINERS.reader)?.state;
  if (state?.running !== undefined) return { kind: 'running', why: '' };
  const waiting = state?.waiting;
  if (
    waiting !== undefined &&
    waiting.reason !== 'ContainerCreating' &&
    waiting.reason !== 'PodInitializing'
  ) {
    const why = `${waiting.reason ?? 'waiting'}: ${waiting.message ?? ''}`.replace(/: $/, '');
    return { kind: HOPELESS.has(waiting.reason ?? '') ? 'hopeless' : 'waiting', why };
  }
  const scheduled = conditions.find(({ type }) => type === 'PodScheduled');
  if (scheduled?.status === 'False') {
    return { kind: 'waiting', why: `${scheduled.reason ?? 'not scheduled'}: ${scheduled.message ?? ''}` };
  }
  return { kind: 'waiting', why: waiting?.reason ?? 'it is being created' };
}

/** Reasons of the kubelet that waiting does not mend. */
const HOPELESS: ReadonlySet<string> = new Set([
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'InvalidImageName',
  'CreateContainerConfigError',
  'CreateContainerError',
]);

/** The container runs some time before its program listens. */
async function greetWhenListening(
  reader: ReaderClient,
  { startMs, signal }: ReaderSessionOptions,
): Promise<void> {
  const until = performance.now() + Math.min(startMs, 30_000);
  for (;;) {
    try {
      await reader.greet();
      return;
    } catch (error) {
      signal.throwIfAborted();
      const mayCome = error instanceof InfrastructureError && NOT_YET.has(error.reason);
      if (!mayCome || error instanceof ClusterUnusableError || performance.now() > until) throw error;
      await pause(POLL_MS, signal);
    }
  }
}

const NOT_YET: ReadonlySet<string> = new Set(['PortForward', 'ReaderConnection']);

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
  signal.throwIfAborted();
}
