import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { z } from 'zod';
import { InvalidInputError } from '../../api/errors.ts';
import { noopBaselineSchema, type NoopBaseline } from '../../api/report.ts';
import { scoreRecordSchema, type ScoreRecord } from '../../api/score.ts';
import { readUntrustedFile } from '../../artifacts/untrusted-file.ts';
import { isCurrentBaseline } from '../../scoring/noop-baseline.ts';
import { BASELINE_FILE, scoreFile, type OpenRound, type RoundTrial } from './round.ts';

/** A score with a detail for each of very many checks stays far below. */
const RECORD_BYTES = 8 * 1024 ** 2;

/** What `score` handed over, checked against the round's list. */
export interface HandedOver {
  readonly scores: ReadonlyMap<string, ScoreRecord>;
  readonly baseline: NoopBaseline | null;
}

/**
 * Reads what `score` left. It ran checkers of a suite on files of agents, so nothing of it is trusted: every record
 * must be of a trial, attempt and artifacts of the list, and there may be no other file and no link.
 *
 * @throws InvalidInputError naming the file that cannot be taken
 */
export async function readHandedOver(
  folder: string,
  round: OpenRound,
  options: { readonly repaired: boolean },
): Promise<HandedOver> {
  const expected = new Set([BASELINE_FILE, ...round.trials.map(({ trial }) => scoreFile(trial))]);
  for (const name of await readdir(folder)) {
    // What a cut-off write left under a temporary name is never read.
    if (!expected.has(name) && !name.startsWith('.')) {
      throw new InvalidInputError({ file: join(folder, name), message: "is not of this round's list" });
    }
  }
  const scores = new Map<string, ScoreRecord>();
  for (const trial of round.trials) {
    const name = scoreFile(trial.trial);
    const record = read(folder, name, scoreRecordSchema);
    if (record === null) throw new InvalidInputError({ file: join(folder, name), message: 'is missing' });
    const field = mismatch(record, trial, round, options.repaired);
    if (field !== null) {
      throw new InvalidInputError({
        file: join(folder, name),
        field,
        message: "does not agree with the round's list",
      });
    }
    scores.set(trial.trial, record);
  }
  const baseline = read(folder, BASELINE_FILE, noopBaselineSchema);
  if (baseline !== null && !isCurrentBaseline(baseline, round.stored.index)) {
    throw new InvalidInputError({ file: join(folder, BASELINE_FILE), message: 'is of another suite' });
  }
  return { scores, baseline };
}

/** The first field of a record that cannot be right, or null. */
function mismatch(
  record: ScoreRecord,
  trial: RoundTrial,
  { revision }: OpenRound,
  repaired: boolean,
): keyof ScoreRecord | null {
  const { entry } = trial;
  const fixed: Partial<ScoreRecord> = {
    trial: trial.trial,
    scenarioId: entry.id,
    dimension: entry.dimension,
    trialNumber: trial.number,
    attempt: trial.attempt,
    revision,
    execution: trial.execution,
    artifactDigest: trial.digest,
    ...(repaired ? {} : { scenarioDigest: entry.digest, checkerDigest: entry.checkerDigest }),
  };
  for (const [field, value] of Object.entries(fixed) as [keyof ScoreRecord, unknown][]) {
    if (record[field] !== value) return field;
  }
  const gradable = trial.class === null || trial.class === 'agent';
  if (record.score !== null && (!gradable || trial.digest === null)) return 'score';
  if (record.score !== null && record.score.scenario_id !== entry.id) return 'score';
  if (record.error !== null && (!gradable || record.score !== null)) return 'error';
  // A trial whose agent ended in order has a score, or a reason why not.
  if (trial.class === null && record.score === null && record.error === null) return 'score';
  if (record.class !== (record.error === null ? trial.class : 'scoring')) return 'class';
  if (record.outcome !== (record.score?.outcome ?? 'execution_failure')) return 'outcome';
  return null;
}

function read<Schema extends z.ZodType>(
  folder: string,
  name: string,
  schema: Schema,
): z.output<Schema> | null {
  const file = join(folder, name);
  const content = readUntrustedFile(folder, name, RECORD_BYTES);
  if (content.kind === 'refused') throw new InvalidInputError({ file, message: content.message });
  if (content.kind !== 'file') return null;
  let value: unknown;
  try {
    value = JSON.parse(content.bytes.toString('utf8'));
  } catch {
    throw new InvalidInputError({ file, message: 'is not JSON' });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new InvalidInputError({
    file,
    field: issue?.path.join('.') ?? '',
    message: issue?.message ?? 'is invalid',
  });
}
