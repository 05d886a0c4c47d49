import { benchmarkRunSpecSchema } from '../../api/benchmark-run.ts';
import type { RunRecord } from '../../api/run.ts';
import type { BenchmarkRunResource } from '../../api/run-status.ts';
import type { TrialResource } from '../../api/trial-resource.ts';
import { ISOLATIONS } from '../../api/vocabulary.ts';

/**
 * run.json after the last round: with what the controller learnt of the cluster while the run went on, and the reruns
 * that were asked for. Pure; an earlier completion is completed further, never taken back.
 *
 * @param resource null when the run was deleted meanwhile
 */
export function completedRun(
  record: RunRecord,
  resource: BenchmarkRunResource | null,
  trials: readonly TrialResource[],
): RunRecord {
  if (resource === null) return record;
  const known = resource.status?.provenance ?? {};
  const { facts } = record;
  return {
    ...record,
    facts: {
      ...facts,
      runtimeImageDigest: known['runtimeImageDigest'] ?? facts.runtimeImageDigest,
      host: known['host'] ?? facts.host,
      isolation: ISOLATIONS.find((isolation) => isolation === known['isolation']) ?? facts.isolation,
    },
    reruns: withRerun(record.reruns, resource, trials),
  };
}

/** The specification holds the newest rerun only; those before it stand in run.json already. */
function withRerun(
  reruns: RunRecord['reruns'],
  resource: BenchmarkRunResource,
  trials: readonly TrialResource[],
): RunRecord['reruns'] {
  const rerun = benchmarkRunSpecSchema.shape.rerun.safeParse(resource.spec.rerun).data;
  if (rerun === undefined || reruns.some(({ revision }) => revision === rerun.revision)) return reruns;
  const { revision, classes, scenarioIds } = rerun;
  const starts = trials
    .flatMap(({ status }) => status?.attempts ?? [])
    .filter((attempt) => attempt.rerunRevision === revision)
    .map(({ startedAt }) => startedAt)
    .sort();
  const [at] = starts;
  // A rerun that no attempt has followed has changed nothing yet.
  return at === undefined ? reruns : [...reruns, { revision, at, classes, scenarioIds }];
}
