import type { z } from 'zod';
import { benchmarkRunSpecSchema, type API_VERSION, type BenchmarkRunSpec } from '../api/benchmark-run.ts';
import { runStatusSchema, type RunConditionType, type RunStatus } from '../api/run-status.ts';
import type { ObjectMeta } from '../kube/object.ts';

/** A BenchmarkRun as the API server holds it. */
export interface RunResource {
  readonly apiVersion: typeof API_VERSION;
  readonly kind: 'BenchmarkRun';
  readonly metadata: ObjectMeta;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: z.input<typeof runStatusSchema>;
}

/** A run as reconcilers and builders look at it: validated, defaults filled in. */
export interface RunView {
  readonly object: RunResource;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly generation: number;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly spec: BenchmarkRunSpec;
  readonly status: RunStatus;
}

/** What a stored run says that this version cannot read: never because of a user, whose input the API server checks. */
export interface UnreadableRun {
  readonly object: RunResource;
  /** Which fields, and why. */
  readonly problem: string;
}

/** Reads a run. A spec of another version, or one that passed the API server and not our schema, is unreadable. */
export function viewRun(object: RunResource): RunView | UnreadableRun {
  const spec = benchmarkRunSpecSchema.safeParse(object.spec);
  const status = runStatusSchema.safeParse(object.status ?? {});
  if (!spec.success) return { object, problem: describe('spec', spec.error.issues) };
  if (!status.success) return { object, problem: describe('status', status.error.issues) };
  const { name, namespace, uid, generation } = object.metadata;
  return {
    object,
    name,
    namespace: namespace ?? '',
    uid,
    generation: generation ?? 0,
    createdAt: object.metadata.creationTimestamp,
    spec: spec.data,
    status: status.data,
  };
}

export const isReadable = (run: RunView | UnreadableRun): run is RunView => 'spec' in run;

/** Whether a condition of a run is True. */
export function holds(run: Pick<RunView, 'status'>, type: RunConditionType): boolean {
  return conditionOf(run, type)?.status === 'True';
}

export function conditionOf(run: Pick<RunView, 'status'>, type: RunConditionType) {
  return run.status.conditions.find((condition) => condition.type === type);
}

function describe(
  field: string,
  issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[],
): string {
  return issues
    .slice(0, 5)
    .map((issue) => `${[field, ...issue.path.map(String)].join('.')}: ${issue.message}`)
    .join('; ');
}
