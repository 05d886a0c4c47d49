import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import type { z } from 'zod';
import { usageSchema, type Usage } from '../api/attempt.ts';
import { benchmarkRunSpecSchema, type BenchmarkRunSpec } from '../api/benchmark-run.ts';
import { errnoOf, InvalidInputError } from '../api/errors.ts';
import { trialName } from '../api/names.ts';
import { noopBaselineSchema, type NoopBaseline } from '../api/report.ts';
import { runLayout, type RunLayout } from '../api/run-layout.ts';
import { runRecordSchema, type RunRecord } from '../api/run.ts';
import { scoreRecordSchema, type ScoreRecord } from '../api/score.ts';
import { suiteIndexSchema, type SuiteIndex, type SuiteIndexEntry } from '../api/suite-index.ts';
import { trialRecordSchema, type TrialRecord } from '../api/trial.ts';
import { readJsonRecord } from '../files/durable.ts';

/** A run as its folder holds it, without its trials. */
export interface StoredRun {
  readonly layout: RunLayout;
  readonly run: RunRecord;
  readonly spec: BenchmarkRunSpec;
  readonly index: SuiteIndex;
  /** null where there is none, or it belongs to another suite. */
  readonly baseline: NoopBaseline | null;
}

/** One declared trial and what is stored of it. */
export interface StoredTrial {
  readonly entry: SuiteIndexEntry;
  readonly trialNumber: number;
  /** Name of the trial's folder under trials/. */
  readonly name: string;
  /** null while the trial was never planned, or where its record cannot be read. */
  readonly record: TrialRecord | null;
  /** null where nothing is scored yet, or where the score belongs to an attempt that no longer stands. */
  readonly score: ScoreRecord | null;
  /** What each attempt consumed, by number; null where nobody recorded it. */
  readonly usage: ReadonlyMap<number, Usage | null>;
  /** Sentences about records that could not be used. */
  readonly problems: readonly string[];
}

/** Trials whose records are read ahead; it bounds open files and memory. */
const READ_AHEAD = 24;

/**
 * Opens a run's folder: DIR of `clawbench local`, or a run's folder on the volume.
 *
 * @throws InvalidInputError when the folder is not one of a run, or run.json or suite/index.json are damaged
 */
export async function openRun(root: string): Promise<StoredRun> {
  const layout = runLayout(root);
  const run = await readJsonRecord(runRecordSchema, layout.runJson);
  if (run === undefined) {
    throw new InvalidInputError({
      file: root,
      message: 'is not the folder of a run: it has no run.json',
      remedy: 'Give the folder that `clawbench local -o` wrote',
    });
  }
  const index = await readJsonRecord(suiteIndexSchema, layout.suite.indexJson);
  if (index === undefined) {
    throw new InvalidInputError({
      file: layout.suite.indexJson,
      message: 'is missing: the run ended before its suite was frozen',
      remedy: 'Run `clawbench local` with the same -o again',
    });
  }
  const spec = benchmarkRunSpecSchema.safeParse(run.spec);
  if (!spec.success) {
    const [first, ...rest] = spec.error.issues.map((issue) => ({
      file: layout.runJson,
      field: ['spec', ...issue.path].join('.'),
      message: issue.message,
    }));
    throw new InvalidInputError(
      first === undefined ? { file: layout.runJson, message: 'spec is invalid' } : [first, ...rest],
    );
  }
  const baseline = await readJsonRecord(noopBaselineSchema, layout.noopBaselineJson);
  return {
    layout,
    run,
    spec: spec.data,
    index,
    baseline: baseline?.suiteDigest === index.suiteDigest ? baseline : null,
  };
}

/**
 * Every declared trial, in the order of the suite and of the trials' numbers. Records are read ahead by a
 * bounded number, so that a run of any size needs little memory as long as the caller keeps little.
 */
export async function* storedTrials(stored: StoredRun): AsyncGenerator<StoredTrial> {
  const pending: Promise<StoredTrial>[] = [];
  try {
    for (const entry of stored.index.scenarios) {
      for (let number = 1; number <= stored.spec.trialsPerScenario; number += 1) {
        pending.push(readTrial(stored, entry, number));
        if (pending.length >= READ_AHEAD) {
          const next = pending.shift();
          if (next !== undefined) yield await next;
        }
      }
    }
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) yield await next;
  } finally {
    // A caller that stops early leaves no read behind whose failure nobody sees.
    await Promise.allSettled(pending);
  }
}

/** Folders under trials/ that no declared trial accounts for: leftovers of somebody else's doing. */
export async function strayTrialFolders(stored: StoredRun): Promise<string[]> {
  const { run, spec, index, layout } = stored;
  const declared = new Set<string>();
  for (const { id } of index.scenarios) {
    for (let number = 1; number <= spec.trialsPerScenario; number += 1) {
      declared.add(trialName(run.name, run.uid, id, number));
    }
  }
  try {
    return (await readdir(layout.trials))
      .filter((name) => !declared.has(name) && !name.startsWith('.'))
      .sort();
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** The stored records of one trial. */
export async function readTrial(
  stored: StoredRun,
  entry: SuiteIndexEntry,
  trialNumber: number,
): Promise<StoredTrial> {
  const name = trialName(stored.run.name, stored.run.uid, entry.id, trialNumber);
  const layout = stored.layout.trial(name);
  const problems: string[] = [];
  const read = async <Schema extends z.ZodType>(schema: Schema, path: string) => {
    try {
      return (await readJsonRecord(schema, path)) ?? null;
    } catch (error) {
      // One damaged record must not hide the others: it is named in the report instead.
      if (!(error instanceof InvalidInputError)) throw error;
      problems.push(...error.problems.map((p) => `${name}/${basename(path)}: ${p.field ?? ''} ${p.message}`));
      return null;
    }
  };
  const [record, score] = await Promise.all([
    read(trialRecordSchema, layout.trialJson),
    read(scoreRecordSchema, layout.scoreJson),
  ]);
  const usage = new Map<number, Usage | null>();
  for (const { number } of record?.attempts ?? []) {
    usage.set(number, await read(usageSchema, layout.attempt(number).usageJson));
  }
  return {
    entry,
    trialNumber,
    name,
    record,
    score: record !== null && score !== null && score.attempt === record.decidedBy ? score : null,
    usage,
    problems,
  };
}
