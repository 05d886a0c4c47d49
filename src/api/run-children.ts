import { API_VERSION } from './benchmark-run.ts';
import { LABELS, runLabel, type Component } from './names.ts';

/** What every object that belongs to a run is named and owned by. */
export interface RunIdentity {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
}

/** `app.kubernetes.io/managed-by` of everything that the operator makes. */
export const MANAGED_BY = { key: 'app.kubernetes.io/managed-by', value: 'clawbench' } as const;

/**
 * The run as controlling owner. `blockOwnerDeletion` makes a foreground deletion of the run wait for the child.
 */
export function runOwnerReference(run: Pick<RunIdentity, 'name' | 'uid'>) {
  return {
    apiVersion: API_VERSION,
    kind: 'BenchmarkRun',
    name: run.name,
    uid: run.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** Labels of a child of the run; `component` for the operator's own pods and what selects them. */
export function runChildLabels(
  run: Pick<RunIdentity, 'name'>,
  component?: Component,
): Record<string, string> {
  return {
    [MANAGED_BY.key]: MANAGED_BY.value,
    [LABELS.RUN]: runLabel(run.name),
    ...(component === undefined ? {} : { [LABELS.COMPONENT]: component }),
  };
}

/** Metadata of a child of the run, owned by it. */
export function runChildMetadata(run: RunIdentity, name: string, component?: Component) {
  return {
    name,
    namespace: run.namespace,
    labels: runChildLabels(run, component),
    ownerReferences: [runOwnerReference(run)],
  };
}
