import type { TrialLayout } from '../api/run-layout.ts';
import { scoreRecordSchema, type ScoreRecord } from '../api/score.ts';
import { readJsonRecord, writeJsonDurably } from '../files/durable.ts';

/**
 * Stores a score as the trial's latest. The score of an earlier attempt, or of an earlier revision, is kept beside
 * it under a name of its own. Storing the same record again changes nothing that counts.
 *
 * @throws InvalidInputError when the stored score is not one; InfrastructureError `DiskFull`
 */
export async function storeScore(trial: TrialLayout, record: ScoreRecord): Promise<void> {
  const earlier = await readJsonRecord(scoreRecordSchema, trial.scoreJson);
  if (earlier !== undefined && earlier.attempt !== record.attempt) {
    await writeJsonDurably(trial.scoreOfAttempt(earlier.attempt), earlier);
  } else if (earlier !== undefined && earlier.revision !== record.revision) {
    await writeJsonDurably(trial.scoreOfRevision(earlier.revision), earlier);
  }
  await writeJsonDurably(trial.scoreJson, record);
}
