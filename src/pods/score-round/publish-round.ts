import { roundRequestSchema, type RoundRequest } from '../../api/container-requests.ts';
import { LABELS, runLabel } from '../../api/names.ts';
import type { BenchmarkRunResource } from '../../api/run-status.ts';
import type { ScoreRecord } from '../../api/score.ts';
import { STEP_REPORT_VERSION, type StepReport } from '../../api/step-report.ts';
import { trialStatusSchema, type TrialResource } from '../../api/trial-resource.ts';
import { writeJsonDurably } from '../../files/durable.ts';
import type { KubeClient } from '../../kube/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import { BENCHMARK_RUNS, TRIALS, typed } from '../../kube/resource.ts';
import { writeReport } from '../../report/write-report.ts';
import { storeScore } from '../../scoring/store-score.ts';
import { mountsOf } from '../mounts.ts';
import { readRequest, type Environment } from '../request.ts';
import { tellingHowItEnds } from '../step-message.ts';
import { eachBounded } from '../../api/each-bounded.ts';
import { readHandedOver } from './handed-over.ts';
import { isRepaired, openRound, type OpenRound, type RoundTrial } from './round.ts';
import { completedRun } from './run-completion.ts';
import { storeTrialRecord } from './trial-records.ts';

/** What publish needs of the API. */
export type PublishClient = Pick<KubeClient, 'pages' | 'find' | 'patch'>;

/** Status patches under way at once. */
const PATCHES = 8;

const TRIAL = typed<TrialResource>(TRIALS);
const RUN = typed<BenchmarkRunResource>(BENCHMARK_RUNS);

/**
 * The container `publish` of a score round: takes over what `score` handed over once it was checked, writes each
 * trial's score and record to the volume and its score into the Trial's status; after the last round also run.json,
 * the report, and the run's scores. Whatever it was doing when it was killed, the next try does again and comes
 * to the same.
 *
 * A Trial that is gone, or that has been opened again since the list was made, is left as it is.
 *
 * @throws InvalidInputError when `score` handed over something that cannot be; InfrastructureError `DiskFull`;
 * errors of the API
 */
export async function publishRound(
  env: Environment,
  client: PublishClient,
  log: (line: string) => void,
): Promise<StepReport> {
  return await tellingHowItEnds(
    env,
    () => 'RoundInvalid',
    async () => {
      const request = readRequest(roundRequestSchema, env);
      const mounts = mountsOf(env);
      const round = await openRound(mounts, request);
      const handed = await readHandedOver(mounts.scores, round, { repaired: isRepaired(request) });
      const { layout } = round.stored;
      if (handed.baseline !== null) await writeJsonDurably(layout.noopBaselineJson, handed.baseline);
      const trials = await readTrials(client, request, round);
      const counts = { patched: 0, already: 0, missing: 0, reopened: 0, records: 0 };
      await eachBounded(round.trials, PATCHES, async (listed) => {
        const trial = trials.get(listed.trial);
        const record = handed.scores.get(listed.trial);
        if (record === undefined) return;
        const state = trial === undefined ? 'missing' : stateOf(trial, listed, record);
        if (trial === undefined || state === 'missing' || state === 'reopened') {
          counts[state === 'reopened' ? 'reopened' : 'missing'] += 1;
          log(
            `${listed.trial}: ${state === 'reopened' ? 'is open again' : 'is gone'}; its score is not published`,
          );
          return;
        }
        await storeScore(layout.trial(listed.trial), record);
        await storeTrialRecord(round.stored, trial);
        if (state === 'already') counts.already += 1;
        else counts[(await patchTrial(client, request, record)) ? 'patched' : 'missing'] += 1;
      });
      if (round.last) counts.records = await finish(client, request, round, trials);
      return { v: STEP_REPORT_VERSION, ok: true, counts };
    },
  );
}

/** The Trials that the round needs: its own, and after the last round all of the run. */
async function readTrials(
  client: PublishClient,
  request: RoundRequest,
  round: OpenRound,
): Promise<Map<string, TrialResource>> {
  const wanted = new Set(round.trials.map(({ trial }) => trial));
  const trials = new Map<string, TrialResource>();
  const labelSelector = `${LABELS.RUN}=${runLabel(request.runName)}`;
  for await (const page of client.pages(TRIAL, { namespace: request.namespace, labelSelector })) {
    for (const trial of page.items) {
      const { name } = trial.metadata;
      if (trial.spec.runName === request.runName && (round.last || wanted.has(name))) trials.set(name, trial);
    }
  }
  return trials;
}

/** Whether a Trial still is what the list says, and whether its score stands there already. */
function stateOf(
  trial: TrialResource,
  listed: RoundTrial,
  record: ScoreRecord,
): 'open' | 'already' | 'reopened' | 'missing' {
  const { scenarioId, trialNumber } = trial.spec;
  if (scenarioId !== listed.scenarioId || trialNumber !== listed.number) return 'missing';
  const status = trialStatusSchema.parse(trial.status ?? {});
  if (status.decidedBy !== listed.attempt) return 'reopened';
  if (status.phase !== 'Scored') return status.phase === 'Executed' ? 'open' : 'reopened';
  const score = record.score?.score ?? null;
  const isSame =
    status.scoredRevision === record.revision && status.score === score && status.outcome === record.outcome;
  return isSame ? 'already' : 'open';
}

/** Only the fields that are publish's own. @returns false when the Trial went meanwhile */
async function patchTrial(
  client: PublishClient,
  request: RoundRequest,
  record: ScoreRecord,
): Promise<boolean> {
  const status = {
    phase: 'Scored',
    outcome: record.outcome,
    score: record.score?.score ?? null,
    scoredRevision: record.revision,
  };
  return await patchStatus(() =>
    client.patch(
      TRIAL,
      { namespace: request.namespace, name: record.trial },
      { type: 'merge', body: { status } },
      { subresource: 'status' },
    ),
  );
}

/** After the last round: every trial's record, run.json, the report, and the run's scores. @returns trial records */
async function finish(
  client: PublishClient,
  request: RoundRequest,
  { stored }: OpenRound,
  trials: ReadonlyMap<string, TrialResource>,
): Promise<number> {
  let records = 0;
  await eachBounded([...trials.values()], PATCHES, async (trial) => {
    if (await storeTrialRecord(stored, trial)) records += 1;
  });
  const ref = { namespace: request.namespace, name: request.runName };
  const found = await client.find(RUN, ref);
  const run = found?.metadata.uid === request.runUID ? found : null;
  const completed = completedRun(stored.run, run, [...trials.values()]);
  await writeJsonDurably(stored.layout.runJson, completed, 0o660);
  const { report } = await writeReport(stored.layout.root);
  if (run !== null) {
    const status = { scores: report.scores, reportPath: `${request.runUID}/report` };
    await patchStatus(() =>
      client.patch(RUN, ref, { type: 'merge', body: { status } }, { subresource: 'status' }),
    );
  }
  return records;
}

async function patchStatus(patch: () => Promise<unknown>): Promise<boolean> {
  try {
    await patch();
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
