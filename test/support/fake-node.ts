import { setTimeout as delay } from 'node:timers/promises';
import type { Round } from '../../src/api/container-requests.ts';
import { indexConfigMaps } from '../../src/api/index-config-map.ts';
import type { HarnessReport } from '../../src/api/harness-report.ts';
import { LABELS } from '../../src/api/names.ts';
import { CONTAINERS } from '../../src/api/pod-contract.ts';
import type { SuiteIndex } from '../../src/api/suite-index.ts';
import { readRoundConfigMap } from '../../src/controller/objects/round-config-map.ts';
import { RUN_OBJECTS } from '../../src/controller/run/apply.ts';
import { TRIAL_OBJECTS } from '../../src/controller/trial/reconciler.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { isAlreadyExists, isConflict, isNotFound, isUnreachable } from '../../src/kube/errors.ts';
import { controllerOf, type Job, type KubeObject, type Pod } from '../../src/kube/object.ts';
import { CONFIG_MAPS, JOBS, PODS, type Resource } from '../../src/kube/resource.ts';

const IMAGE_ID = `example.test/image@sha256:${'a'.repeat(64)}`;
const PERIOD_MS = 25;

/** How the pod of an attempt ends; the default ends in order. */
export type Fate = (attempt: {
  readonly trial: string;
  readonly number: number;
}) => Partial<NonNullable<HarnessReport['result']>> | 'lost' | 'hangs';

export interface FakeNodeOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly scenarios: readonly string[];
  readonly fate?: Fate;
  readonly onPod?: (pod: Pod) => void;
}

/**
 * What a cluster's node and Job controller would do in one namespace, and the programs in the pods: it moves pods and
 * Jobs to their ends. It looks at everything again and again, as the real ones do.
 */
export class FakeNode {
  readonly #options: FakeNodeOptions;
  readonly #stop = new AbortController();
  #work: Promise<void> | null = null;
  /** UIDs of trial pods that ran, by trial and attempt. */
  readonly ran = new Map<string, Set<string>>();
  /** Trials of which two pods were live at once: must stay empty. */
  readonly overlaps: string[] = [];

  constructor(options: FakeNodeOptions) {
    this.#options = options;
  }

  start(): void {
    this.#work = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#work;
  }

  async #run(): Promise<void> {
    try {
      await this.#moveAll();
    } catch (thrown) {
      // A test that failed has closed the client under us.
      if (!this.#stop.signal.aborted && !isUnreachable(thrown)) throw thrown;
    }
  }

  async #moveAll(): Promise<void> {
    const { client, namespace } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const pods = await client.list(PODS, { namespace });
      this.#watchOverlaps(pods.items);
      for (const pod of pods.items) await tolerant(() => this.#movePod(pod));
      const jobs = await client.list(JOBS, { namespace });
      for (const job of jobs.items) await tolerant(() => this.#moveJob(job));
      await delay(PERIOD_MS);
    }
  }

  #watchOverlaps(pods: readonly Pod[]): void {
    const live = new Map<string, number>();
    for (const { metadata, status } of pods) {
      const trial = metadata.labels?.[LABELS.TRIAL];
      if (trial === undefined || status?.phase === 'Succeeded' || status?.phase === 'Failed') continue;
      live.set(trial, (live.get(trial) ?? 0) + 1);
    }
    for (const [trial, count] of live) if (count > 1) this.overlaps.push(trial);
  }

  async #movePod(pod: Pod): Promise<void> {
    this.#options.onPod?.(pod);
    const { labels, deletionTimestamp } = pod.metadata;
    const trial = labels?.[LABELS.TRIAL];
    const phase = pod.status?.phase ?? 'Pending';
    const over = phase === 'Succeeded' || phase === 'Failed';
    if (trial === undefined) {
      if (!over && labels?.[LABELS.COMPONENT] === 'probe') {
        await this.#setPod(pod, 'Succeeded', [ended(CONTAINERS.probe, 0, 'v26.0.0')]);
      }
      return;
    }
    const number = Number(labels?.[LABELS.ATTEMPT]);
    const fate = this.#options.fate?.({ trial, number }) ?? {};
    if (phase === 'Pending') {
      const key = `${trial}/${number}`;
      this.ran.set(key, (this.ran.get(key) ?? new Set()).add(pod.metadata.uid));
      await this.#setPod(pod, 'Running', [running(CONTAINERS.harness), running(CONTAINERS.executor)]);
    } else if (fate === 'lost') {
      await this.#options.client.delete(PODS, pod.metadata, { gracePeriodSeconds: 0 });
    } else if (phase === 'Running' && (fate !== 'hangs' || deletionTimestamp !== undefined)) {
      const result = fate === 'hangs' ? { killReason: 'interrupted' as const, exitCode: null } : fate;
      const message = JSON.stringify(report(trial, number, pod.metadata.uid, result));
      await this.#setPod(pod, 'Succeeded', [
        ended(CONTAINERS.harness, 0, message),
        ended(CONTAINERS.executor, 0, ''),
      ]);
    }
  }

  async #setPod(pod: Pod, phase: string, containerStatuses: readonly object[]): Promise<void> {
    const scheduled = { type: 'PodScheduled', status: 'True', lastTransitionTime: now() };
    await this.#patch(PODS, pod, { phase, conditions: [scheduled], containerStatuses });
  }

  async #moveJob(job: Job): Promise<void> {
    const over = job.status?.conditions?.some(({ type, status }) => type === 'Complete' && status === 'True');
    if (over === true) return;
    const component = job.metadata.labels?.[LABELS.COMPONENT];
    if (component === 'prepare') await this.#publishIndex(job);
    else await this.#publishScores(job);
    const condition = (type: string) => ({
      type,
      status: 'True',
      lastProbeTime: now(),
      lastTransitionTime: now(),
    });
    await this.#patch(JOBS, job, {
      startTime: job.metadata.creationTimestamp,
      completionTime: now(),
      succeeded: 1,
      conditions: [condition('SuccessCriteriaMet'), condition('Complete')],
    });
  }

  async #publishIndex(job: Job): Promise<void> {
    const owner = controllerOf(job);
    if (owner === undefined) return;
    const run = { name: owner.name, uid: owner.uid, namespace: this.#options.namespace };
    for (const configMap of indexConfigMaps(run, indexOf(this.#options.scenarios))) {
      try {
        await this.#options.client.create(CONFIG_MAPS, configMap);
      } catch (thrown) {
        if (!isAlreadyExists(thrown)) throw thrown;
      }
    }
  }

  async #publishScores(job: Job): Promise<void> {
    const { client, namespace } = this.#options;
    const owner = controllerOf(job);
    const volume = job.spec?.template.spec?.volumes?.find(({ name }) => name === 'round');
    const name = volume?.configMap?.name ?? '';
    const round: Round = readRoundConfigMap(await client.get(CONFIG_MAPS, { namespace, name }));
    for (const { trial, class: failure } of round.trials) {
      const graded = failure === null || failure === 'agent';
      const status = {
        phase: 'Scored',
        outcome: graded ? 'pass' : 'execution_failure',
        score: graded ? 1 : null,
        scoredRevision: round.revision,
      };
      await this.#merge(TRIAL_OBJECTS, { namespace, name: trial }, status);
    }
    if (round.last && owner !== undefined) {
      await this.#merge(RUN_OBJECTS, { namespace, name: owner.name }, { reportPath: `${owner.uid}/report` });
    }
  }

  async #patch<T extends KubeObject>(resource: Resource<T>, object: T, status: object): Promise<void> {
    const { resourceVersion } = object.metadata;
    await this.#options.client.patch(
      resource,
      object.metadata,
      { type: 'merge', body: { metadata: { resourceVersion }, status } },
      { subresource: 'status' },
    );
  }

  async #merge<T extends KubeObject>(
    resource: Resource<T>,
    ref: { readonly namespace: string; readonly name: string },
    status: object,
  ): Promise<void> {
    await this.#options.client.patch(
      resource,
      ref,
      { type: 'merge', body: { status } },
      { subresource: 'status' },
    );
  }
}

/** Things change and go between a list and a write: the next look sees it. */
async function tolerant(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    if (!isConflict(thrown) && !isNotFound(thrown)) throw thrown;
  }
}

function now(): string {
  return new Date().toISOString().replace(/\.\d+Z$/, 'Z');
}

function running(name: string) {
  const state = { running: { startedAt: now() } };
  return { name, image: 'image', imageID: IMAGE_ID, ready: true, restartCount: 0, state };
}

function ended(name: string, exitCode: number, message: string) {
  const reason = exitCode === 0 ? 'Completed' : 'Error';
  const state = { terminated: { exitCode, reason, message, startedAt: now(), finishedAt: now() } };
  return { name, image: 'image', imageID: IMAGE_ID, ready: false, restartCount: 0, state };
}

/** What a harness of a fake pod reports; an attempt that ended in order unless told otherwise. */
export function report(
  trial: string,
  attempt: number,
  podUID: string,
  result: Partial<NonNullable<HarnessReport['result']>> = {},
): HarnessReport {
  return {
    v: 1,
    operatorVersion: '0.1.0',
    trial,
    attempt,
    podUID,
    step: 'done',
    turn: 1,
    connectedAt: now(),
    sigterm: result.killReason === 'interrupted',
    fault: null,
    result: {
      startedAt: now(),
      endedAt: new Date().toISOString(),
      observations: [],
      killReason: null,
      exitCode: 0,
      signal: null,
      oomKills: 0,
      turns: 1,
      completion: { completed: true, signal: 'stop_reason', reason: 'it stopped', conflict: false },
      runtimeMs: 10,
      wallClockMs: 20,
      collected: true,
      manifestDigest: 'f'.repeat(64),
      isolation: 'container',
      artifacts: { files: 3, bytes: 30 },
      usage: { toolCalls: 1, totalTokens: null, costUsd: null },
      ...result,
    },
  };
}

function indexOf(ids: readonly string[]): SuiteIndex {
  return {
    schema_version: 1,
    format: 'scenario',
    suiteDigest: 'd'.repeat(64),
    selector: {},
    partial: false,
    excluded: [],
    scenarios: ids.map((id) => ({
      id,
      name: id,
      dimension: 'tool_use',
      difficulty: 'easy',
      signalSource: 'workspace_live',
      weight: 1,
      surfaces: [],
      turn: 60,
      total: null,
      passThreshold: 0.7,
      supervised: false,
      scripted: ['solve'],
      digest: 'c'.repeat(64),
      workspaceDigest: 'b'.repeat(64),
      checkerDigest: null,
    })),
  };
}
