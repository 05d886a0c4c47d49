import { InvalidInputError } from '../../api/errors.ts';
import { runLabel, LABELS } from '../../api/names.ts';
import { didYouMean } from '../../files/suggest.ts';
import { KubeClient } from '../../kube/client.ts';
import { loadClusterAccess } from '../../kube/config.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { ClusterFlags } from './options.ts';
import { RUN_RESOURCE, TRIAL_RESOURCE, type RunObject, type TrialObject } from './resources.ts';

/** Field manager of what people change by this program. */
const FIELD_MANAGER = 'clawbench-cli';

/** An open way to a cluster, and the namespace that is meant in it. */
export interface Cluster {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly flags: ClusterFlags;
}

/**
 * Runs `work` against the cluster that the flags and the environment name, and closes its connections.
 *
 * @throws InvalidInputError for a wrong kubeconfig or context; ApiUnreachableError where there is no cluster
 */
export async function withCluster<Result>(
  flags: ClusterFlags,
  work: (cluster: Cluster) => Promise<Result>,
): Promise<Result> {
  const access = await loadClusterAccess({
    ...(flags.kubeconfig === undefined ? {} : { kubeconfig: flags.kubeconfig }),
    ...(flags.context === undefined ? {} : { context: flags.context }),
  });
  const client = new KubeClient(access, { fieldManager: FIELD_MANAGER });
  try {
    return await work({ client, namespace: flags.namespace ?? access.namespace, flags });
  } finally {
    await client.close();
  }
}

/**
 * @throws InvalidInputError naming the namespace, and a run of a similar name, when there is no such run
 */
export async function getRun({ client, namespace }: Cluster, name: string): Promise<RunObject> {
  try {
    return await client.get(RUN_RESOURCE, { namespace, name });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    // Also fails, with a better sentence, where the cluster has no such resource at all.
    const { items } = await client.list(RUN_RESOURCE, { namespace });
    const names = items.map((run) => run.metadata.name);
    throw new InvalidInputError({
      message: `there is no BenchmarkRun ${name} in namespace ${namespace}`,
      remedy:
        didYouMean(name, names) ?? 'clawbench status lists the runs of a namespace; -n names another one.',
    });
  }
}

/** Trials of a run by scenario and number. Trials of an earlier run of the same name are left out. */
export async function listTrials({ client, namespace }: Cluster, run: RunObject): Promise<TrialObject[]> {
  const { items } = await client.list(TRIAL_RESOURCE, { namespace, labelSelector: trialSelector(run) });
  return sortedTrials(items, run);
}

/** Selects the Trials of a run, and of others whose shortened name is the same; see `sortedTrials`. */
export const trialSelector = (run: RunObject): string => `${LABELS.RUN}=${runLabel(run.metadata.name)}`;

export function sortedTrials(trials: readonly TrialObject[], run: RunObject): TrialObject[] {
  const { name, uid } = run.metadata;
  return trials
    .filter(({ spec, metadata }) => {
      const owners = metadata.ownerReferences ?? [];
      return spec.runName === name && (owners.length === 0 || owners.some((owner) => owner.uid === uid));
    })
    .sort((a, b) => compare(a.spec.scenarioId, b.spec.scenarioId) || a.spec.trialNumber - b.spec.trialNumber);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
