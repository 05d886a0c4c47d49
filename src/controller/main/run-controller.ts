import { randomUUID } from 'node:crypto';
import { systemClock, type Clock } from '../../api/clock.ts';
import type { ControllerConfig } from '../../api/controller-config.ts';
import { LABELS } from '../../api/names.ts';
import { FIELD_MANAGERS } from '../../api/pod-contract.ts';
import { KubeClient } from '../../kube/client.ts';
import type { ClusterAccess } from '../../kube/config.ts';
import { Controller, type ReconcileReport } from '../../kube/controller.ts';
import { EventRecorder } from '../../kube/events.ts';
import { LeaderElector } from '../../kube/leader-election.ts';
import { controllerOf, keyOf, type KubeObject } from '../../kube/object.ts';
import { statusOf } from '../cache.ts';
import { Claims } from '../claims.ts';
import type { Deps, Log } from '../deps.ts';
import { ModelPreflight } from '../model-preflight.ts';
import { GatewayAccess } from '../gateway-access.ts';
import { EndedAttempts } from '../gateway-control.ts';
import { sweepOrphans } from '../janitor.ts';
import { createRunReconciler } from '../run/reconciler.ts';
import { InFlight } from '../schedule/in-flight.ts';
import { createScheduler, SCHEDULER_KEY } from '../schedule/reconciler.ts';
import { TrialMemory } from '../trial/memory.ts';
import { createTrialReconciler } from '../trial/reconciler.ts';
import { hasEnded } from '../trial/transitions.ts';
import { startHealthServer } from './health-server.ts';
import { createInformers, type Informers } from './informers.ts';
import { objectBuilders } from './real-builders.ts';
import type { Builders } from '../builders.ts';

export interface ControllerOptions {
  readonly config: ControllerConfig;
  readonly access: ClusterAccess;
  /** Namespace of the controller's own pod. */
  readonly namespace: string;
  /** This process, unlike any other; the pod's name in a cluster. */
  readonly name: string;
  readonly log: Log;
  readonly clock?: Clock;
  /** In place of the installation's objects, e.g. in tests. */
  readonly builders?: Builders;
  /** Port of the health endpoints; default the configuration's. 0 chooses a free one. */
  readonly healthPort?: number;
  /** Asked before every write of a reconciler; a test stops a controller in the middle of its work by it. */
  readonly beforeWrite?: () => void;
}

/** Changes come in floods; a pass over a run looks at all its Trials. */
const RUN_PAUSE_MS = 100;
const SCHEDULER_PAUSE_MS = 50;

/**
 * Runs a controller until `signal` aborts: caches at once, reconcilers while it leads. Rejects when it lost the lease
 * or a part of it failed; the process then ends, and another one begins anew.
 */
export async function runController(options: ControllerOptions, signal: AbortSignal): Promise<void> {
  const { config, access, log, clock = systemClock } = options;
  const identity = `${options.name}_${randomUUID()}`;
  const read = new KubeClient(access, { fieldManager: FIELD_MANAGERS.controller, clock });
  const stopping = new AbortController();
  const stop = () => stopping.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const informers = createInformers({
    client: read,
    namespaces: config.watchNamespaces,
    onError: (resource, error) => log.warn({ resource, error }, 'watch failed; it is tried again'),
  });
  const elector = new LeaderElector({
    client: read,
    lease: { namespace: config.leaderElection.namespace ?? options.namespace, name: 'clawbench-controller' },
    identity,
    clock,
    timing: {
      leaseSeconds: config.leaderElection.leaseSeconds,
      renewDeadlineSeconds: config.leaderElection.renewSeconds,
      retrySeconds: config.leaderElection.retrySeconds,
    },
    onStartedLeading: async (leading) => {
      log.info({ identity }, 'leading');
      await lead(leading);
    },
    onStoppedLeading: () => log.info({ identity }, 'not leading any more'),
    onError: (error) => log.warn({ error }, 'the lease could not be written; it is tried again'),
  });
  const write = new KubeClient(access, {
    fieldManager: FIELD_MANAGERS.controller,
    clock,
    guardWrite: () => {
      elector.fence();
      options.beforeWrite?.();
    },
  });
  const events = new EventRecorder({
    client: write,
    reportingController: 'clawbench.dev/controller',
    reportingInstance: options.name,
    clock,
  });
  const controllers = assemble(options, informers, write, events, clock);

  async function lead(leading: AbortSignal): Promise<void> {
    await informers.synced;
    await Promise.all(controllers.map((controller) => controller.run(leading)));
    await events.flush();
  }

  const health = await startHealthServer(options.healthPort ?? config.ports.health, informers.hasSynced);
  log.info({ port: health.port, identity }, 'started');
  const watching = informers.run(stopping.signal);
  try {
    const end = await elector.run(stopping.signal);
    if (end === 'lost') throw new Error('the lease was lost');
  } finally {
    stopping.abort();
    await Promise.allSettled([watching, informers.synced]);
    await health.close();
    await Promise.all([read.close(), write.close()]);
    signal.removeEventListener('abort', stop);
  }
}

/** Reconcilers, and what wakes them. */
function assemble(
  { config, log, namespace, builders }: ControllerOptions,
  informers: Informers,
  client: KubeClient,
  events: EventRecorder,
  clock: Clock,
): Controller[] {
  const { cache } = informers;
  const now = () => clock.date().getTime();
  const memory = new TrialMemory();
  const inFlight = new InFlight(cache.pods, now);
  const claims = new Claims(client, now);
  const gateways = new GatewayAccess(client, now);
  const endings = new EndedAttempts({ gateways, log });
  const refusals = new Map<string, string>();
  const wakeScheduler = () => scheduler.queue.addAfter(SCHEDULER_KEY, SCHEDULER_PAUSE_MS);
  const deps: Deps = {
    client,
    cache,
    builders: builders ?? objectBuilders({ ...config, controllerNamespace: namespace }),
    config,
    memory,
    clock,
    random: Math.random,
    record: (regarding, text) => events.record(regarding, text),
    log,
    attemptEnded: (run, trial, attempt) => endings.tell(run, trial, attempt),
    wakeScheduler,
    wakeTrials: (keys) => keys.forEach((key) => trials.enqueue(key)),
  };
  const report = (done: ReconcileReport) => logReconcile(log, done);
  const shared = { clock, resyncSeconds: config.resyncSeconds, onReconcile: report };
  const runs = new Controller({
    ...shared,
    name: 'run',
    reconcile: createRunReconciler({
      ...deps,
      claims,
      gateways,
      endings,
      models: new ModelPreflight(gateways, now),
      refusalOf: (uid) => refusals.get(uid) ?? null,
    }),
    allKeys: () => cache.runs.keys(),
  });
  const trials = new Controller({
    ...shared,
    name: 'trial',
    // Most passes wait for a write of the API server; more at once than that has in flight is no faster.
    workers: 8,
    reconcile: createTrialReconciler(deps),
    allKeys: () => openTrials(informers),
  });
  const scheduler = new Controller({
    ...shared,
    name: 'scheduler',
    workers: 1,
    reconcile: createScheduler({
      ...deps,
      claims,
      gateways,
      inFlight,
      refused: (uid, why) => {
        if (why === null) refusals.delete(uid);
        else refusals.set(uid, why);
      },
    }),
    allKeys: () => [SCHEDULER_KEY],
  });
  const janitor = new Controller({
    ...shared,
    name: 'janitor',
    workers: 1,
    reconcile: (_key, { signal }) => sweepOrphans(deps, signal),
    allKeys: () => ['all'],
  });
  const wakeRun = (object: KubeObject) => {
    const owner = controllerOf(object);
    const name = owner?.kind === 'BenchmarkRun' ? owner.name : undefined;
    if (name !== undefined) runs.queue.addAfter(`${object.metadata.namespace ?? ''}/${name}`, RUN_PAUSE_MS);
  };
  informers.onRun(({ key }) => {
    runs.enqueue(key);
    wakeScheduler();
  });
  informers.onTrial(({ key, object }) => {
    trials.enqueue(key);
    wakeRun(object);
    wakeScheduler();
  });
  informers.onPod((change) => {
    memory.observePod(change);
    inFlight.observe(change);
    const { object } = change;
    const trial = object.metadata.labels?.[LABELS.TRIAL];
    if (trial !== undefined) {
      trials.enqueue(`${object.metadata.namespace ?? ''}/${trial}`);
      wakeScheduler();
    }
    wakeRun(object);
    const job = controllerOf(object);
    const owner = job?.kind === 'Job' ? cache.jobs.getByUid(job.uid) : undefined;
    if (owner !== undefined) wakeRun(owner);
  });
  informers.onChild(({ object }) => wakeRun(object));
  return [runs, trials, scheduler, janitor];
}

/** Trials that may need something by themselves: ended ones are looked at when they or their pods change. */
function openTrials({ cache }: Informers): string[] {
  return cache.trials
    .list()
    .filter(
      (trial) => !hasEnded(statusOf(trial)) || cache.pods.byIndex('trial', keyOf(trial.metadata)).length > 0,
    )
    .map((trial) => keyOf(trial.metadata));
}

function logReconcile(log: Log, report: ReconcileReport): void {
  const { controller, key, reconcileId, outcome, seconds, error, retryAfterSeconds } = report;
  const fields = { controller, key, reconcileID: reconcileId, outcome, seconds };
  if (outcome === 'error' || outcome === 'terminal') {
    log.warn({ ...fields, error, retryAfterSeconds }, 'reconcile failed');
  } else {
    log.debug(fields, 'reconciled');
  }
}
