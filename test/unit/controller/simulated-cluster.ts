import { RUN_FINALIZER } from '../../../src/api/pod-contract.ts';
import { podName } from '../../../src/api/names.ts';
import type { RunStatus } from '../../../src/api/run-status.ts';
import type { TrialStatus } from '../../../src/api/trial-resource.ts';
import { abortOf } from '../../../src/controller/run/abort.ts';
import type { RoundFacts, TrialView } from '../../../src/controller/run/observation.ts';
import { planRun } from '../../../src/controller/run/plan.ts';
import { demandOf } from '../../../src/controller/schedule/demand.ts';
import { planStarts } from '../../../src/controller/schedule/plan.ts';
import { isLive, type PodFacts } from '../../../src/controller/trial/pod-facts.ts';
import { planTrial, type TrialPlan } from '../../../src/controller/trial/plan.ts';
import { hasEnded, openAttempt } from '../../../src/controller/trial/transitions.ts';
import { report } from '../../support/fake-node.ts';
import { facts, options, T0 } from './builders.ts';
import { job, run, runOptions, seen, suite, type RunOver } from './run-builders.ts';

/** The process that runs the reconcilers has died: in the middle of a pass, after a write. */
export class Crash extends Error {}

interface State {
  readonly trials: Map<string, TrialView>;
  readonly pods: Map<string, { readonly trial: string; readonly facts: PodFacts }>;
  status: Partial<RunStatus>;
  finalizers: readonly string[];
  runVersion: number;
}

/**
 * An API server, a node and score Jobs as plain data, with a controller made of the real plans before a cache that is
 * behind as far as the test wants. Every random choice is the test's.
 */
export class SimulatedCluster {
  readonly api: State = { trials: new Map(), pods: new Map(), status: {}, finalizers: [], runVersion: 1 };
  readonly rounds: RoundFacts[] = [];
  now = T0;
  /** Writes until the process dies; Infinity: it lives. */
  writesLeft = Infinity;
  /** Pod UIDs by trial and attempt, of all pods there ever were. */
  readonly created = new Map<string, string[]>();
  #cache: State = copyOf(this.api);
  #vanished = new Map<string, PodFacts[]>();
  #inFlight = new Map<string, string>();
  #versions = 1;
  #uids = 0;
  #over: RunOver;
  readonly #scenarios: readonly string[];

  constructor(scenarios: readonly string[], over: RunOver) {
    this.#scenarios = scenarios;
    this.#over = over;
    this.api.status = { provenance: { runtimeImageDigest: 'sha256:image' } };
    this.syncAll();
  }

  get run() {
    return this.#runIn(this.api);
  }

  /** The user changes the declaration. */
  respecify(over: RunOver): void {
    this.#over = over;
  }

  /** A new process: it knows what the API server lists, and nothing else. */
  restart(): void {
    this.#vanished = new Map();
    this.#inFlight = new Map();
    this.#cache = copyOf(this.api);
    this.writesLeft = Infinity;
  }

  syncTrials(): void {
    this.#cache = { ...this.#cache, trials: new Map(this.api.trials) };
  }

  syncPods(): void {
    for (const [name, pod] of this.#cache.pods) {
      if (this.api.pods.get(name)?.facts.uid === pod.facts.uid) continue;
      this.#vanished.set(pod.trial, [...(this.#vanished.get(pod.trial) ?? []), pod.facts]);
    }
    this.#cache = { ...this.#cache, pods: new Map(this.api.pods) };
    for (const [trial, uid] of this.#inFlight) {
      if ([...this.api.pods.values()].some(({ facts: pod }) => pod.uid === uid)) this.#inFlight.delete(trial);
    }
  }

  syncRun(): void {
    const { status, finalizers, runVersion } = this.api;
    this.#cache = { ...this.#cache, status, finalizers, runVersion };
  }

  syncAll(): void {
    this.syncTrials();
    this.syncPods();
    this.syncRun();
  }

  reconcileTrial(name: string): void {
    const cached = this.#cache.trials.get(name);
    if (cached === undefined) return;
    const view = this.#runIn(this.#cache);
    const recorded = new Set(cached.status.attempts.filter((a) => a.endedAt !== null).map((a) => a.podUID));
    const observation = {
      name,
      status: cached.status,
      run: facts({ retry: view.spec.retry, abort: abortOf(view, this.now, 3600)?.reason ?? null }),
      pods: this.#podsOf(this.#cache, name),
      vanished: (this.#vanished.get(name) ?? []).filter(({ uid }) => !recorded.has(uid)),
      confirmedGone: false,
      podEvent: null,
    };
    const planning = { ...options(0), now: this.now };
    let plan: TrialPlan = planTrial(observation, planning);
    if (plan.confirm) {
      const open = openAttempt(cached.status);
      const alive = this.#podsOf(this.api, name).some(({ uid }) => uid === open?.podUID);
      const current = this.api.trials.get(name)?.resourceVersion === cached.resourceVersion;
      if (alive || !current) return;
      plan = planTrial({ ...observation, confirmedGone: true }, planning);
    }
    for (const { name: pod, uid, gracePeriodSeconds } of plan.deletions)
      this.#deletePod(pod, uid, gracePeriodSeconds);
    if (plan.status !== null) this.#writeTrial(cached, plan.status);
  }

  schedule(): void {
    const view = this.#runIn(this.#cache);
    const index = suite(...this.#scenarios);
    const trials = [...this.#cache.trials.values()].map(({ name, spec, status }) => {
      const recorded = new Set(status.attempts.filter((a) => a.endedAt !== null).map((a) => a.podUID));
      const lost = (this.#vanished.get(name) ?? []).some(({ uid }) => !recorded.has(uid));
      return {
        ...{ key: name, scenarioId: spec.scenarioId, trialNumber: spec.trialNumber, status },
        pods: this.#podsOf(this.#cache, name),
        unsettled: this.#inFlight.has(name) || lost,
      };
    });
    const facts = { run: view, suite: index, surfaces: [], trials };
    const { demand } = demandOf(facts, {
      ...{ now: this.now, failAfterSeconds: 3600, probeEverySeconds: 300, preflight: true },
    });
    for (const { key, attempt } of planStarts([demand], 100)) {
      const live = this.api.trials.get(key);
      if (live?.resourceVersion !== this.#cache.trials.get(key)?.resourceVersion) continue;
      this.#createPod(key, attempt);
    }
  }

  reconcileRun(): void {
    const view = this.#runIn(this.#cache);
    const plan = planRun(
      seen({
        run: view,
        suite: suite(...this.#scenarios),
        trials: [...this.#cache.trials.values()],
        pods: [...this.#cache.pods.values()].map(({ trial, facts: pod }) => ({
          ...{ name: pod.name, uid: pod.uid, trial, live: isLive(pod) },
        })),
        rounds: this.rounds,
      }),
      { ...runOptions(0), now: this.now },
    );
    if (plan.finalizer !== null) {
      this.#write();
      this.api.finalizers = plan.finalizer === 'add' ? [RUN_FINALIZER] : [];
      this.api.runVersion = this.#nextVersion();
      return;
    }
    for (const child of plan.children) {
      if (child.kind !== 'round' || this.rounds.some(({ number }) => number === child.number)) continue;
      this.#write();
      this.rounds.push({ number: child.number, list: child.list, job: job('active') });
    }
    for (const { name, uid } of plan.removals) this.#deletePod(name, uid ?? '', 90);
    for (const { name, spec } of plan.trials) {
      if (this.api.trials.has(name)) continue;
      this.#write();
      const status = { phase: 'Pending', attempts: [] } as unknown as TrialStatus;
      const fresh = { ...BLANK, ...status };
      this.api.trials.set(name, { name, uid: name, resourceVersion: this.#version(), spec, status: fresh });
    }
    for (const { trial, status } of plan.trialStatuses) this.#writeTrial(trial, status);
    if (this.#cache.runVersion !== this.api.runVersion) return;
    this.#write();
    this.api.status = plan.status;
    this.api.runVersion = this.#nextVersion();
  }

  /** The node: a pod goes one step on. `fate` is what an attempt that runs comes to. */
  movePod(index: number, fate: 'good' | 'broken' | 'lost' | 'evicted'): void {
    const all = [...this.api.pods.entries()];
    const entry = all[index % Math.max(1, all.length)];
    if (entry === undefined) return;
    const [name, { trial, facts: pod }] = entry;
    const put = (over: Partial<PodFacts>) => this.api.pods.set(name, { trial, facts: { ...pod, ...over } });
    if (!isLive(pod)) {
      if (pod.deletedBy !== null) this.api.pods.delete(name);
    } else if (fate === 'lost') {
      this.api.pods.delete(name);
    } else if (fate === 'evicted') {
      put({ phase: 'Failed', reason: 'Evicted', disruption: 'TerminationByKubelet' });
    } else if (pod.phase === 'Pending') {
      put({ phase: 'Running', harness: { state: 'running' }, executor: { state: 'running' } });
    } else {
      const interrupted =
        pod.deletedBy !== null ? { killReason: 'interrupted' as const, exitCode: null } : {};
      const broken = { observations: [{ kind: 'setup_failed' as const, message: 'x' }], collected: false };
      const result = {
        ...(fate === 'broken' ? broken : {}),
        ...interrupted,
        endedAt: new Date(this.now).toISOString(),
      };
      const message = JSON.stringify(report(trial, pod.attempt, pod.uid, result));
      const over = { state: 'terminated' as const, reason: 'Completed', exitCode: 0, finishedAt: this.now };
      put({ phase: 'Succeeded', harness: { ...over, message }, executor: { ...over, message: '' } });
    }
  }

  /** The score Job of the newest round goes on to its end. */
  moveRound(fails: boolean): void {
    const index = this.rounds.length - 1;
    const newest = this.rounds[index];
    if (newest?.job?.state !== 'active') return;
    const over = { ...newest.job, endedAt: this.now };
    this.rounds[index] = { ...newest, job: { ...over, state: fails ? 'failed' : 'complete' } };
    if (fails) return;
    for (const { trial, class: failure } of newest.list.trials) {
      const current = this.api.trials.get(trial);
      if (current === undefined) continue;
      const outcome = failure === null || failure === 'agent' ? 'pass' : 'execution_failure';
      const status = {
        ...current.status,
        phase: 'Scored',
        outcome,
        scoredRevision: newest.list.revision,
      } as const;
      this.api.trials.set(trial, { ...current, resourceVersion: this.#version(), status });
    }
  }

  /** Trials of which two pods could run at once. */
  overlapping(): string[] {
    return [...this.api.trials.keys()].filter(
      (name) => this.#podsOf(this.api, name).filter(isLive).length > 1,
    );
  }

  ended(): boolean {
    return [...this.api.trials.values()].every(({ status }) => hasEnded(status));
  }

  #runIn({ status, finalizers, runVersion }: State) {
    const view = run({ ...this.#over, status, finalizers });
    return {
      ...view,
      object: { ...view.object, metadata: { ...view.object.metadata, resourceVersion: `${runVersion}` } },
    };
  }

  #podsOf(state: State, trial: string): PodFacts[] {
    return [...state.pods.values()].filter((pod) => pod.trial === trial).map(({ facts: pod }) => pod);
  }

  #createPod(trial: string, attempt: number): void {
    const name = podName(trial, attempt);
    const existing = this.api.pods.get(name);
    if (existing !== undefined) {
      this.#inFlight.set(trial, existing.facts.uid);
      return;
    }
    this.#write();
    this.#uids += 1;
    const uid = `uid-${this.#uids}`;
    const absent = { state: 'absent' as const };
    const fresh: PodFacts = {
      ...{
        name,
        uid,
        attempt,
        createdAt: this.now,
        phase: 'Pending',
        reason: '',
        message: '',
        nodeName: 'n',
      },
      ...{
        scheduling: { state: 'scheduled', at: this.now },
        disruption: null,
        deletedBy: null,
        restarted: false,
      },
      ...{ harness: absent, executor: absent },
    };
    this.api.pods.set(name, { trial, facts: fresh });
    this.created.set(name, [...(this.created.get(name) ?? []), uid]);
    this.#inFlight.set(trial, uid);
  }

  #deletePod(name: string, uid: string, graceSeconds: number): void {
    const pod = this.api.pods.get(name);
    if (pod?.facts.uid !== uid) return;
    this.#write();
    if (graceSeconds === 0) this.api.pods.delete(name);
    else if (pod.facts.deletedBy === null) {
      const deletedBy = this.now + graceSeconds * 1000;
      this.api.pods.set(name, { ...pod, facts: { ...pod.facts, deletedBy } });
    }
  }

  #writeTrial(planned: TrialView, status: TrialStatus): void {
    const current = this.api.trials.get(planned.name);
    if (current?.resourceVersion !== planned.resourceVersion) return;
    this.#write();
    this.api.trials.set(planned.name, { ...current, resourceVersion: this.#version(), status });
  }

  /** Throws in place of the write that the process did not live to make. */
  #write(): void {
    if (this.writesLeft <= 0) throw new Crash();
    this.writesLeft -= 1;
  }

  #nextVersion(): number {
    this.#versions += 1;
    return this.#versions;
  }

  #version(): string {
    return String(this.#nextVersion());
  }
}

const BLANK = {
  ...{ rerunRevision: null, decidedBy: null, execution: null, class: null, outcome: null, score: null },
  ...{ scoredRevision: null, usage: null, notBefore: null, reason: null },
} as const;

function copyOf(state: State): State {
  return { ...state, trials: new Map(state.trials), pods: new Map(state.pods) };
}
