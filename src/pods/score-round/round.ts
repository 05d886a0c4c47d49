import { join } from 'node:path';
import { roundSchema, type Round, type RoundRequest } from '../../api/container-requests.ts';
import { InvalidInputError } from '../../api/errors.ts';
import { trialName } from '../../api/names.ts';
import type { SuiteIndexEntry } from '../../api/suite-index.ts';
import { readJsonRecord } from '../../files/durable.ts';
import { openRun, type StoredRun } from '../../report/read-run.ts';
import type { Mounts } from '../mounts.ts';

/** One trial of a round with its scenario. */
export type RoundTrial = Round['trials'][number] & { readonly entry: SuiteIndexEntry };

export interface OpenRound {
  readonly revision: number;
  readonly last: boolean;
  readonly trials: readonly RoundTrial[];
  /** The run's folder. */
  readonly stored: StoredRun;
}

/** Name of the baseline among what `score` hands over; the others are named by their trials. */
export const BASELINE_FILE = 'noop-baseline.json';

/** File of a trial's score among what `score` hands over. */
export const scoreFile = (trial: string) => `${trial}.json`;

/** Whether the round grades by another suite than the frozen one. */
export const isRepaired = ({ suitePath, builtinSuite }: RoundRequest) => suitePath !== null || builtinSuite;

/**
 * Reads a round's list and the run that it is of.
 *
 * @throws InvalidInputError when the list names trials that the run does not have
 */
export async function openRound(mounts: Mounts, request: RoundRequest): Promise<OpenRound> {
  const file = join(mounts.round, 'round.json');
  const round = await readJsonRecord(roundSchema, file);
  if (round === undefined) throw new InvalidInputError({ file, message: 'is missing' });
  const stored = await openRun(mounts.run);
  const { run } = stored;
  if (run.uid !== request.runUID) {
    throw new InvalidInputError({ file: mounts.run, message: `is of run ${run.uid}, not ${request.runUID}` });
  }
  const entries = new Map(stored.index.scenarios.map((entry) => [entry.id, entry]));
  const trials = round.trials.map((trial, i) => {
    const entry = entries.get(trial.scenarioId);
    // The name becomes a path: it must be the one that follows from what it stands for.
    const isOurs = trial.trial === trialName(run.name, run.uid, trial.scenarioId, trial.number);
    if (entry !== undefined && isOurs) return { ...trial, entry };
    throw new InvalidInputError({
      file,
      field: `trials[${i}]`,
      message: `${trial.trial} is not trial ${trial.number} of a scenario ${trial.scenarioId} of this run`,
    });
  });
  return { revision: round.revision, last: round.last, trials, stored };
}
