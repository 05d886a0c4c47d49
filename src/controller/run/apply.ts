import { randomBytes } from 'node:crypto';
import { API_VERSION } from '../../api/benchmark-run.ts';
import { LABELS, runChildName, runLabel } from '../../api/names.ts';
import { RUN_FINALIZER } from '../../api/pod-contract.ts';
import { ensureChild } from '../../kube/ensure-child.ts';
import { isAlreadyExists, isConflict, isInvalid, isNotFound } from '../../kube/errors.ts';
import { keyOf } from '../../kube/object.ts';
import {
  BENCHMARK_RUNS,
  CONFIG_MAPS,
  DEPLOYMENTS,
  JOBS,
  NETWORK_POLICIES,
  PERSISTENT_VOLUME_CLAIMS,
  PODS,
  ROLE_BINDINGS,
  SECRETS,
  SERVICE_ACCOUNTS,
  SERVICES,
  typed,
} from '../../kube/resource.ts';
import type { TrialObject } from '../cache.ts';
import type { Deps } from '../deps.ts';
import { eachBounded } from '../../api/each-bounded.ts';
import { readRoundConfigMap } from '../objects/round-config-map.ts';
import type { RunResource, RunView } from '../run-view.ts';
import { writeStatus } from '../status-patch.ts';
import { TRIAL_OBJECTS } from '../trial/reconciler.ts';
import type { ClaimFacts } from './observation.ts';
import type { Child, Removal, RunPlan } from './plan-draft.ts';
import { isCoLocated } from './setup.ts';

export const RUN_OBJECTS = typed<RunResource>(BENCHMARK_RUNS);

/** Writes at once: more is no faster and makes everything else wait. */
const CONCURRENCY = 8;
/** Account and policies of a run are looked at again so often; between, nothing is asked of the API server. */
const ENSURED_MS = 600_000;
/** What was just created is not created again before the cache can show it. */
const RECENT_MS = 5_000;

/** The API server does not take an object that was made of a run's specification. */
export class ChildRefusedError extends Error {
  override readonly name = 'ChildRefusedError';
}

/** Carries out plans of runs, and remembers what it created until the cache shows it. */
export class RunWriter {
  readonly #deps: Deps;
  readonly #created = new Map<string, Set<string>>();
  readonly #ensured = new Map<string, number>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Names of Trials that were created and that the cache does not show; told which ones it does. */
  createdTrials(runUid: string, shown: ReadonlySet<string>): ReadonlySet<string> {
    const created = this.#created.get(runUid);
    if (created === undefined) return new Set();
    for (const name of created) if (shown.has(name)) created.delete(name);
    return created;
  }

  forget(runUid: string): void {
    this.#created.delete(runUid);
    for (const key of this.#ensured.keys()) if (key.startsWith(`${runUid}/`)) this.#ensured.delete(key);
  }

  /**
   * Writes what a plan says, the status last. A conflict anywhere means that the plan was made on an old state: it is
   * thrown, and everything is planned again.
   */
  async apply(run: RunView, plan: RunPlan, claim: ClaimFacts | null, signal: AbortSignal): Promise<void> {
    const { client } = this.#deps;
    if (plan.finalizer !== null) await this.#setFinalizer(run, plan.finalizer, signal);
    for (const child of plan.children) await this.#ensure(run, child, claim, signal);
    for (const removal of plan.removals) await this.#remove(run, removal, signal);
    if (plan.releaseClaim && claim !== null) await this.#releaseClaim(run, claim, signal);
    await this.#createTrials(run, plan, signal);
    await eachBounded(plan.trialStatuses, CONCURRENCY, async ({ trial, status }) => {
      const object = this.#deps.cache.trials.get(keyOf({ namespace: run.namespace, name: trial.name }));
      if (object?.metadata.resourceVersion !== trial.resourceVersion) return;
      await writeStatus(client, TRIAL_OBJECTS, object, status, signal);
      this.#deps.memory.wroteOver(trial.uid, trial.resourceVersion);
    });
    if (plan.deleteRun) {
      await ignoring(isNotFound, () =>
        client.delete(RUN_OBJECTS, run.object.metadata, { uid: run.uid, signal }),
      );
    }
  }

  /** @returns whether there was anything to write */
  async writeStatus(run: RunView, plan: RunPlan, signal: AbortSignal): Promise<boolean> {
    const written = await writeStatus(this.#deps.client, RUN_OBJECTS, run.object, plan.status, signal);
    return written !== null;
  }

  async #setFinalizer(run: RunView, change: 'add' | 'remove', signal: AbortSignal): Promise<void> {
    const { resourceVersion, finalizers = [] } = run.object.metadata;
    const others = finalizers.filter((finalizer) => finalizer !== RUN_FINALIZER);
    const wanted = change === 'add' ? [...others, RUN_FINALIZER] : others;
    const body = { metadata: { resourceVersion, finalizers: wanted.length === 0 ? null : wanted } };
    await ignoring(isNotFound, () =>
      this.#deps.client.patch(RUN_OBJECTS, run.object.metadata, { type: 'merge', body }, { signal }),
    );
  }

  async #createTrials(run: RunView, plan: RunPlan, signal: AbortSignal): Promise<void> {
    if (plan.trials.length === 0) return;
    const created = this.#created.get(run.uid) ?? new Set<string>();
    this.#created.set(run.uid, created);
    await eachBounded(plan.trials, CONCURRENCY, async ({ name, spec }) => {
      await ensureChild<TrialObject>(
        this.#deps.client,
        TRIAL_OBJECTS,
        run.object,
        {
          metadata: { name, namespace: run.namespace, labels: { [LABELS.RUN]: runLabel(run.name) } },
          apiVersion: API_VERSION,
          kind: 'Trial',
          spec,
        },
        { signal },
      );
      created.add(name);
    });
  }

  async #ensure(run: RunView, child: Child, claim: ClaimFacts | null, signal: AbortSignal): Promise<void> {
    const key = `${run.uid}/${child.kind}/${child.kind === 'round' ? child.number : ''}`;
    const now = this.#deps.clock.date().getTime();
    const patience = child.kind === 'worker' || child.kind === 'policies' ? ENSURED_MS : RECENT_MS;
    if (now - (this.#ensured.get(key) ?? -Infinity) < patience) return;
    try {
      await this.#create(run, child, claim, signal);
    } catch (thrown) {
      // What the API server finds wrong with an object stays wrong: it is made of the run's specification.
      if (isInvalid(thrown)) throw new ChildRefusedError(thrown.message, { cause: thrown });
      throw thrown;
    }
    this.#ensured.set(key, now);
    this.#deps.log.info({ run: run.name, child: child.kind }, 'child ensured');
  }

  async #create(run: RunView, child: Child, claim: ClaimFacts | null, signal: AbortSignal): Promise<void> {
    const { client, builders } = this.#deps;
    const owner = run.object;
    const options = { signal };
    const ref = { name: claim?.name ?? '', coLocate: isCoLocated(claim) };
    switch (child.kind) {
      case 'worker': {
        const { account, binding } = builders.worker(run.namespace);
        // They belong to the namespace, and runs share them.
        await ignoring(isAlreadyExists, () => client.create(SERVICE_ACCOUNTS, account, options));
        await ignoring(isAlreadyExists, () => client.create(ROLE_BINDINGS, binding, options));
        return;
      }
      case 'policies':
        for (const policy of builders.policies(run))
          await ensureChild(client, NETWORK_POLICIES, owner, policy, options);
        return;
      case 'claim': {
        const draft = builders.claim(run);
        if (draft !== null) await ensureChild(client, PERSISTENT_VOLUME_CLAIMS, owner, draft, options);
        return;
      }
      case 'gateway': {
        const { secret, service, deployment } = builders.gateway(run, ref, randomBytes(32).toString('hex'));
        await ensureChild(client, SECRETS, owner, secret, options);
        await ensureChild(client, SERVICES, owner, service, options);
        await ensureChild(client, DEPLOYMENTS, owner, deployment, options);
        return;
      }
      case 'probe':
        await ensureChild(client, PODS, owner, builders.probePod(run), options);
        return;
      case 'prepare':
        await ensureChild(client, JOBS, owner, builders.prepareJob(run, ref), options);
        return;
      case 'round': {
        const draft = builders.roundConfigMap(run, child.number, child.list);
        const { object } = await ensureChild(client, CONFIG_MAPS, owner, draft, options);
        // What stands in the cluster counts: an earlier pass may have listed fewer.
        const { trials } = readRoundConfigMap({ data: object.data ?? {} });
        await ensureChild(
          client,
          JOBS,
          owner,
          builders.scoreJob(run, ref, child.number, trials.length),
          options,
        );
      }
    }
  }

  async #remove(run: RunView, removal: Removal, signal: AbortSignal): Promise<void> {
    const { client } = this.#deps;
    const at = (name: string) => ({ namespace: run.namespace, name });
    const uid = removal.uid === null ? {} : { uid: removal.uid };
    const gone = (error: unknown) => isNotFound(error) || isConflict(error);
    switch (removal.kind) {
      case 'pod':
        await ignoring(gone, () => client.delete(PODS, at(removal.name), { ...uid, signal }));
        return;
      case 'job':
        await ignoring(gone, () => client.delete(JOBS, at(removal.name), { ...uid, signal }));
        return;
      case 'gateway':
        await ignoring(gone, () =>
          client.delete(DEPLOYMENTS, at(runChildName(run.name, 'gateway')), { ...uid, signal }),
        );
    }
  }

  /** Takes the run's name off its claim, so that artifacts are not deleted with it. */
  async #releaseClaim(run: RunView, claim: ClaimFacts, signal: AbortSignal): Promise<void> {
    const body = { metadata: { ownerReferences: null } };
    await ignoring(isNotFound, () =>
      this.#deps.client.patch(
        PERSISTENT_VOLUME_CLAIMS,
        { namespace: run.namespace, name: claim.name },
        { type: 'merge', body },
        { signal },
      ),
    );
  }
}

/** Does something for which one kind of failure is as good as success. */
async function ignoring(harmless: (error: unknown) => boolean, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    if (!harmless(thrown)) throw thrown;
  }
}
