import { verifyManifest } from '../artifacts/manifest.ts';
import { traceOfAttempt } from '../artifacts/transcript.ts';
import type { BenchmarkRunSpec } from '../api/benchmark-run.ts';
import { InvalidInputError, messageOf } from '../api/errors.ts';
import type { TrialLayout } from '../api/run-layout.ts';
import { scoreRecordSchema, type ScoreRecord, type ScoringError, type TrialScore } from '../api/score.ts';
import type { TrialRecord } from '../api/trial.ts';
import { readJsonRecord, writeJsonDurably } from '../files/durable.ts';
import type { CheckerHost } from '../scoring/checkers/checker-host.ts';
import { scoreTrial } from '../scoring/score-trial.ts';
import { SCORER_VERSION } from '../scoring/version.ts';
import { readHiddenScenario } from '../suite/frozen.ts';
import type { OpenRun } from './open-run.ts';

type Grade =
  | { readonly score: TrialScore; readonly error?: never }
  | { readonly error: ScoringError; readonly score?: never };

/** Makes the step that grades an executed trial from what is stored of it and writes its score record. */
export function createScoreStep(
  { layout, index }: OpenRun,
  spec: BenchmarkRunSpec,
  checkers: CheckerHost,
  now: () => Date,
): (trial: TrialRecord) => Promise<ScoreRecord> {
  const entries = new Map(index.scenarios.map((scenario) => [scenario.id, scenario]));

  async function grade(
    trial: TrialRecord,
    attempt: number,
    execution: ScoreRecord['execution'],
  ): Promise<Grade> {
    const files = layout.trial(trial.name).attempt(attempt);
    const recorded = trial.attempts.find(({ number }) => number === attempt)?.artifacts?.digest ?? null;
    const broken = await verifyManifest(files.root, recorded);
    const [first] = broken;
    if (first !== undefined)
      return { error: { reason: 'ArtifactsCorrupt', message: `${first.path}: ${first.message}` } };
    try {
      const trace = await traceOfAttempt(files.root, { trial: trial.name, attempt });
      return await scoreTrial(
        {
          hidden: await readHiddenScenario(layout.suite, trial.scenarioId),
          layout: layout.suite,
          workspaceDir: files.workspace,
          trace,
          execution,
          limits: { seconds: trial.timeouts.scoring },
        },
        checkers,
      );
    } catch (error) {
      if (error instanceof InvalidInputError)
        return { error: { reason: 'ArtifactsCorrupt', message: error.message } };
      throw error;
    }
  }

  return async (trial) => {
    const { decidedBy, execution } = trial;
    const entry = entries.get(trial.scenarioId);
    if (decidedBy === null || execution === null || entry === undefined) {
      throw new Error(`trial ${trial.name} is graded before it was executed: ${messageOf(trial.phase)}`);
    }
    // What the agent did not cause has no score: neither a zero nor a partial one.
    const graded =
      trial.class === null || trial.class === 'agent' ? await grade(trial, decidedBy, execution) : null;
    const score = graded?.score ?? null;
    const error = graded?.error ?? null;
    const record: ScoreRecord = {
      schema_version: 1,
      trial: trial.name,
      scenarioId: trial.scenarioId,
      dimension: trial.dimension,
      trialNumber: trial.trialNumber,
      attempt: decidedBy,
      revision: spec.scoring.revision,
      execution,
      class: error === null ? trial.class : 'scoring',
      outcome: score?.outcome ?? 'execution_failure',
      score,
      error,
      artifactDigest:
        trial.attempts.find((attempt) => attempt.number === decidedBy)?.artifacts?.digest ?? null,
      scenarioDigest: trial.scenarioDigest,
      checkerDigest: entry.checkerDigest,
      scorerVersion: SCORER_VERSION,
      scoredAt: now().toISOString(),
    };
    await storeScore(layout.trial(trial.name), record);
    return record;
  };
}

/** Stores a score as the trial's latest; the score of an earlier attempt is kept beside it. */
async function storeScore(trial: TrialLayout, record: ScoreRecord): Promise<void> {
  const earlier = await readJsonRecord(scoreRecordSchema, trial.scoreJson);
  if (earlier !== undefined && earlier.attempt !== record.attempt) {
    await writeJsonDurably(trial.scoreOfAttempt(earlier.attempt), earlier);
  }
  await writeJsonDurably(trial.scoreJson, record);
}
