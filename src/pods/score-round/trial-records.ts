import { trialName } from '../../api/names.ts';
import { scoreRecordSchema } from '../../api/score.ts';
import { resolveTimeouts } from '../../api/timeouts.ts';
import { trialRecordOf, type TrialResource } from '../../api/trial-resource.ts';
import { trialRecordSchema } from '../../api/trial.ts';
import { trialScored } from '../../attempt/trial-state.ts';
import { canonicalJson } from '../../files/digest.ts';
import { readJsonRecord, writeJsonDurably } from '../../files/durable.ts';
import type { StoredRun } from '../../report/read-run.ts';

/**
 * Writes trial.json of a Trial, with the stored score of the attempt that stands: the record that reports are made
 * from, the same as on one machine.
 *
 * @returns whether it was written; a record that says the same already, or a Trial that is none of the run's, is left
 */
export async function storeTrialRecord(
  { run, spec, index, layout }: StoredRun,
  trial: TrialResource,
): Promise<boolean> {
  const { scenarioId, trialNumber } = trial.spec;
  const { name } = trial.metadata;
  const entry = index.scenarios.find(({ id }) => id === scenarioId);
  if (entry === undefined || name !== trialName(run.name, run.uid, scenarioId, trialNumber)) return false;
  const files = layout.trial(name);
  const declared = { turn: entry.turn ?? undefined, total: entry.total ?? undefined };
  const executed = trialRecordOf(trial, resolveTimeouts(spec.timeouts, declared).timeouts);
  const score = await readJsonRecord(scoreRecordSchema, files.scoreJson);
  const record = trialRecordSchema.parse(
    score?.attempt === executed.decidedBy ? trialScored(executed, score) : executed,
  );
  const stored = await readJsonRecord(trialRecordSchema, files.trialJson).catch(() => undefined);
  if (stored !== undefined && canonicalJson(stored) === canonicalJson(record)) return false;
  await writeJsonDurably(files.trialJson, record);
  return true;
}
