import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../api/errors.ts';
import { trialLayout, type RunLayout } from '../api/run-layout.ts';
import { trialRecordSchema, type TrialRecord } from '../api/trial.ts';
import { readJsonRecord, writeJsonDurably } from '../files/durable.ts';

/** Stores a trial's record durably. */
export async function storeTrial(layout: RunLayout, trial: TrialRecord): Promise<void> {
  await writeJsonDurably(layout.trial(trial.name).trialJson, trial);
}

/** All stored trials of a run by name; a folder whose record was never written does not count. */
export async function readTrials(layout: RunLayout): Promise<Map<string, TrialRecord>> {
  let names: string[];
  try {
    names = await readdir(layout.trials);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return new Map();
    throw error;
  }
  const trials = new Map<string, TrialRecord>();
  for (const name of names.sort()) {
    const trial = await readJsonRecord(trialRecordSchema, trialLayout(join(layout.trials, name)).trialJson);
    if (trial !== undefined) trials.set(trial.name, trial);
  }
  return trials;
}
