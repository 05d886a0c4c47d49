import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { roundRequestSchema, type RoundRequest } from '../../api/container-requests.ts';
import { noopBaselineSchema } from '../../api/report.ts';
import { suiteLayout } from '../../api/run-layout.ts';
import { scoreRecordSchema } from '../../api/score.ts';
import { STEP_REPORT_VERSION, type StepReport } from '../../api/step-report.ts';
import { readJsonRecord, writeJsonDurably } from '../../files/durable.ts';
import type { StoredRun } from '../../report/read-run.ts';
import { createCheckerHost, type CheckerHost } from '../../scoring/checkers/checker-host.ts';
import { gradeStoredTrial, type GradingSuite } from '../../scoring/grade-stored-trial.ts';
import { baselineRecord, isCurrentBaseline } from '../../scoring/noop-baseline.ts';
import { freezeSuite } from '../../suite/freeze.ts';
import { selectScenarios } from '../../suite/select.ts';
import { mountsOf } from '../mounts.ts';
import { readRequest, type Environment } from '../request.ts';
import { tellingHowItEnds } from '../step-message.ts';
import { loadMountedSuite } from '../suite-source.ts';
import { eachBounded } from '../../api/each-bounded.ts';
import { BASELINE_FILE, isRepaired, openRound, scoreFile, type OpenRound, type RoundTrial } from './round.ts';

/**
 * The container `score` of a score round: grades the round's trials into MOUNTS.scores, each by its checker in a
 * process of its own. It has no token, and the run's folder is read-only for it. Started again, it goes on.
 *
 * @throws InvalidInputError for a wrong request, list or suite; system errors
 */
export async function scoreRound(env: Environment, now: () => Date): Promise<StepReport> {
  return await tellingHowItEnds(
    env,
    () => 'RoundInvalid',
    async () => {
      const request = readRequest(roundRequestSchema, env);
      const mounts = mountsOf(env);
      const round = await openRound(mounts, request);
      const temporary = await mkdtemp(join(tmpdir(), 'clawbench-score-'));
      const checkers = await createCheckerHost();
      try {
        const suiteOf = await gradingSuites(request, round.stored, join(temporary, 'suite'));
        const counts = { graded: 0, errors: 0, ungraded: 0 };
        const grade = async (trial: RoundTrial) => {
          const file = join(mounts.scores, scoreFile(trial.trial));
          const found = await readJsonRecord(scoreRecordSchema, file).catch(() => undefined);
          const record =
            found ??
            (await gradeStoredTrial(executed(trial, round, request), suiteOf(trial), checkers, { now }));
          if (found === undefined) await writeJsonDurably(file, record);
          counts[record.error !== null ? 'errors' : record.score !== null ? 'graded' : 'ungraded'] += 1;
        };
        // One more than can compute, so that the next is prepared meanwhile.
        await eachBounded(round.trials, availableParallelism() + 1, grade);
        const baseline = round.last ? await addBaseline(round.stored, mounts.scores, checkers) : 0;
        return { v: STEP_REPORT_VERSION, ok: true, counts: { ...counts, baseline } };
      } finally {
        await checkers.close();
        await rm(temporary, { recursive: true, force: true });
      }
    },
  );
}

function executed(trial: RoundTrial, { stored, revision }: OpenRound, request: RoundRequest) {
  return {
    trial: trial.trial,
    trialNumber: trial.number,
    attempt: trial.attempt,
    attemptDir: stored.layout.trial(trial.trial).attempt(trial.attempt).root,
    execution: trial.execution,
    class: trial.class,
    artifactDigest: trial.digest,
    revision,
    seconds: request.scoringSeconds,
  };
}

/**
 * By what each trial is graded: its frozen scenario, or the same scenario of the repaired suite that
 * `spec.scoring.suite` names. Both digests are kept: a score record has the one it was graded by, trial.json the
 * one that ran.
 */
async function gradingSuites(
  request: RoundRequest,
  stored: StoredRun,
  target: string,
): Promise<(trial: RoundTrial) => GradingSuite> {
  if (!isRepaired(request)) return ({ entry }) => ({ layout: stored.layout.suite, entry });
  const suite = await loadMountedSuite(request, stored.spec.suite.format);
  const scenarioIds = stored.index.scenarios.map(({ id }) => id);
  const selection = selectScenarios(suite, { scenarioIds, status: 'all' });
  const index = await freezeSuite({ suite, selection, target, scripted: false });
  const entries = new Map(index.scenarios.map((entry) => [entry.id, entry]));
  const layout = suiteLayout(target);
  return ({ entry }) => ({ layout, entry: entries.get(entry.id) ?? entry });
}

/** @returns how many were made */
async function addBaseline(stored: StoredRun, scores: string, checkers: CheckerHost): Promise<number> {
  const { layout, index } = stored;
  const file = join(scores, BASELINE_FILE);
  const made = await readJsonRecord(noopBaselineSchema, file).catch(() => undefined);
  if (isCurrentBaseline(stored.baseline ?? undefined, index) || isCurrentBaseline(made, index)) return 0;
  await writeJsonDurably(file, await baselineRecord(layout.suite, index, checkers));
  return 1;
}
