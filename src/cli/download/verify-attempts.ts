import { readdir } from 'node:fs/promises';
import { errnoOf, InvalidInputError } from '../../api/errors.ts';
import { runLayout } from '../../api/run-layout.ts';
import { trialRecordSchema, type TrialRecord } from '../../api/trial.ts';
import { verifyManifest } from '../../artifacts/manifest.ts';
import { readJsonRecord } from '../../files/durable.ts';

/** Most sentences about one attempt: a lost folder would fill the screen. */
const MOST_PROBLEMS = 5;

/**
 * Compares every collected attempt of a run's folder with its manifest, and the manifest with the digest that the
 * trial's record holds. Attempts that no record mentions yet, because they still run, are not looked at.
 */
export async function verifyAttempts(
  root: string,
): Promise<{ readonly attempts: number; readonly problems: readonly string[] }> {
  const layout = runLayout(root);
  const problems: string[] = [];
  let attempts = 0;
  for (const name of await trialNames(layout.trials)) {
    const trial = layout.trial(name);
    let record: TrialRecord | undefined;
    try {
      record = await readJsonRecord(trialRecordSchema, trial.trialJson);
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      problems.push(error.message);
    }
    for (const { number, artifacts } of record?.attempts ?? []) {
      if (artifacts?.collected !== true) continue;
      attempts += 1;
      const found = await verifyManifest(trial.attempt(number).root, artifacts.digest || null);
      problems.push(
        ...found
          .slice(0, MOST_PROBLEMS)
          .map((problem) => `trials/${name}/attempts/${number}: ${problem.message}`),
      );
      const more = found.length - MOST_PROBLEMS;
      if (more > 0) problems.push(`trials/${name}/attempts/${number}: ${more} more differences`);
    }
  }
  return { attempts, problems };
}

async function trialNames(trials: string): Promise<string[]> {
  try {
    return (await readdir(trials)).sort();
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}
