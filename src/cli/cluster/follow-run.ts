import { InfrastructureError } from '../../api/errors.ts';
import { ApiStatusError, isTransient } from '../../kube/errors.ts';
import { Reflector } from '../../kube/reflector.ts';
import { progressLine } from '../../local/progress.ts';
import { createBar, type ProgressStream } from '../progress-bar.ts';
import { hasEnded, progressOf, runNotes, trialNote, type ProgressNote } from './cluster-progress.ts';
import { sortedTrials, trialSelector, type Cluster } from './connect.ts';
import { ClusterUnusableError } from './failures.ts';
import { endOf, RUN_RESOURCE, TRIAL_RESOURCE, type RunObject } from './resources.ts';
import { shown } from './change-run.ts';

export interface FollowOptions {
  readonly stream: ProgressStream;
  readonly now: () => Date;
  readonly signal: AbortSignal;
  /** Milliseconds without an answer of the API server after which watching is given up; default 5 minutes. */
  readonly patienceMs?: number;
}

/**
 * Shows how a run goes on until it has ended. The run itself does not depend on it.
 *
 * @returns the run as it ended, or null when `signal` aborted
 * @throws ClusterUnusableError when the cluster is gone for too long; InfrastructureError `RunDeleted`
 */
export async function followRun(
  cluster: Cluster,
  run: RunObject,
  options: FollowOptions,
): Promise<RunObject | null> {
  const { stream, now, signal, patienceMs = 300_000 } = options;
  const { client, namespace } = cluster;
  const work = new AbortController();
  const ended = Promise.withResolvers<RunObject | null>();
  const patience = new Patience(patienceMs, (error) => {
    ended.reject(error);
  });

  const onError = (error: unknown): void => {
    if (work.signal.aborted) return;
    if (error instanceof ApiStatusError && !isTransient(error) && error.code !== 410) ended.reject(error);
    else if (patience.failed(error))
      bar.line(`cannot reach the cluster, trying again (the run goes on there)`);
  };
  const runs = new Reflector({
    client,
    resource: RUN_RESOURCE,
    selection: { namespace, fieldSelector: `metadata.name=${run.metadata.name}` },
    indexers: {},
    onError,
  });
  const trials = new Reflector({
    client,
    resource: TRIAL_RESOURCE,
    selection: { namespace, labelSelector: trialSelector(run) },
    indexers: {},
    onError,
  });
  let latest = run;
  let endedBefore = 0;
  const startedMs = now().getTime();
  const state = () => progressOf(latest, sortedTrials(trials.store.list(), run), endedBefore);
  const bar = createBar(stream, (columns) => {
    const counts = state();
    return counts.trials === 0 ? null : progressLine(counts, (now().getTime() - startedMs) / 1000, columns);
  });
  const say = (note: ProgressNote): void => {
    // On a terminal the bar tells what goes as it should.
    if (!bar.onTerminal || note.attention) bar.line(note.text);
  };

  const stop = (): void => {
    ended.resolve(null);
  };
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const reflectors = [runs.run(work.signal), trials.run(work.signal)];
  try {
    await Promise.race([Promise.all([runs.synced, trials.synced]), ended.promise]);
    endedBefore = trials.store.list().filter(({ status }) => hasEnded(status)).length;
    trials.addHandler((change) => {
      patience.answered();
      if (change.type === 'update') {
        const note = trialNote(change.old, change.object, state(), now());
        if (note !== null) say(note);
      }
      bar.redraw();
    });
    let seen: RunObject | undefined;
    runs.addHandler(({ type, object }) => {
      patience.answered();
      if (object.metadata.uid !== run.metadata.uid) return;
      if (type === 'delete') {
        ended.reject(new InfrastructureError('RunDeleted', `${shown(run)} was deleted`));
        return;
      }
      latest = object;
      for (const note of runNotes(seen, object)) say(note);
      seen = object;
      if (endOf(object) !== null) ended.resolve(object);
    });
    if (!signal.aborted && runs.store.size === 0) {
      throw new InfrastructureError('RunDeleted', `${shown(run)} was deleted`);
    }
    return await ended.promise;
  } finally {
    signal.removeEventListener('abort', stop);
    patience.close();
    work.abort();
    await Promise.all(reflectors);
    bar.redraw();
    bar.close();
  }
}

/** How long a cluster may be silent. */
class Patience {
  readonly #ms: number;
  readonly #over: (error: Error) => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number, over: (error: Error) => void) {
    this.#ms = ms;
    this.#over = over;
  }

  /** Notes a failure; true for the first in a row. */
  failed(error: unknown): boolean {
    if (this.#timer !== undefined) return false;
    this.#timer = setTimeout(() => {
      this.#over(
        new ClusterUnusableError(
          `the cluster could not be reached for ${Math.round(this.#ms / 1000)} s; the run goes on there`,
          { cause: error },
        ),
      );
    }, this.#ms);
    return true;
  }

  answered(): void {
    this.close();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
