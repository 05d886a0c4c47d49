import type { BenchmarkRunSpec } from '../api/benchmark-run.ts';
import type { ScoreRecord } from '../api/score.ts';
import type { TrialRecord } from '../api/trial.ts';
import type { CheckerHost } from '../scoring/checkers/checker-host.ts';
import { gradeStoredTrial } from '../scoring/grade-stored-trial.ts';
import { storeScore } from '../scoring/store-score.ts';
import type { OpenRun } from './open-run.ts';

/** Makes the step that grades an executed trial from what is stored of it and writes its score record. */
export function createScoreStep(
  { layout, index }: OpenRun,
  spec: BenchmarkRunSpec,
  checkers: CheckerHost,
  now: () => Date,
): (trial: TrialRecord) => Promise<ScoreRecord> {
  const entries = new Map(index.scenarios.map((scenario) => [scenario.id, scenario]));

  return async (trial) => {
    const { decidedBy, execution } = trial;
    const entry = entries.get(trial.scenarioId);
    if (decidedBy === null || execution === null || entry === undefined) {
      throw new Error(`trial ${trial.name} is graded before it was executed: ${trial.phase}`);
    }
    const files = layout.trial(trial.name);
    const record = await gradeStoredTrial(
      {
        trial: trial.name,
        trialNumber: trial.trialNumber,
        attempt: decidedBy,
        attemptDir: files.attempt(decidedBy).root,
        execution,
        class: trial.class,
        artifactDigest: trial.attempts.find(({ number }) => number === decidedBy)?.artifacts?.digest ?? null,
        revision: spec.scoring.revision,
        seconds: trial.timeouts.scoring,
      },
      { layout: layout.suite, entry },
      checkers,
      { now },
    );
    await storeScore(files, record);
    return record;
  };
}
