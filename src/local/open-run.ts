import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { BenchmarkRun } from '../api/benchmark-run.ts';
import { errnoOf, InvalidInputError, isDiskFull, messageOf } from '../api/errors.ts';
import { runLayout, type RunLayout } from '../api/run-layout.ts';
import { runRecordSchema, type RunRecord } from '../api/run.ts';
import type { SuiteIndex } from '../api/suite-index.ts';
import { readJsonRecord, writeJsonDurably } from '../files/durable.ts';
import { readSuiteIndex } from '../suite/frozen.ts';
import { assertSameRun } from './frozen-spec.ts';

/** A run's folder with its frozen parts. */
export interface OpenRun {
  readonly layout: RunLayout;
  readonly record: RunRecord;
  readonly index: SuiteIndex;
}

/** Reads the run in `root`, or undefined when there is none. */
export async function readRun(root: string): Promise<OpenRun | undefined> {
  const layout = runLayout(root);
  const record = await readJsonRecord(runRecordSchema, layout.runJson);
  if (record === undefined) return undefined;
  return { layout, record, index: await readSuiteIndex(layout.suite) };
}

/** `readRun`, where there must be one. */
export async function readExistingRun(root: string): Promise<OpenRun> {
  const run = await readRun(root);
  if (run !== undefined) return run;
  throw new InvalidInputError({
    file: root,
    message: 'holds no run (run.json is missing)',
    remedy: 'Give the folder that clawbench local wrote with -o.',
  });
}

/** What an invocation may leave in a new run's folder before run.json is there. */
const BEGINNING = /^(suite|\.lock|\.lock\..*|\.suite\.tmp-.*|\.run\.json\..*\.tmp)$/;
/** Of it, what is only in the way of the next one. */
const CUT_OFF = /^\.(suite|run\.json)\..*/;

/**
 * A folder for a new run must be missing, empty, or hold only what a cut-off beginning left.
 *
 * @throws InvalidInputError when other files are in it
 */
export async function assertFree(root: string): Promise<void> {
  let names: string[];
  try {
    names = await readdir(root);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return;
    if (errnoOf(error) === 'ENOTDIR') {
      throw new InvalidInputError({
        file: root,
        message: 'is a file, or lies below one',
        remedy: 'Give a folder with -o.',
      });
    }
    throw error;
  }
  const foreign = names.find((name) => !BEGINNING.test(name));
  if (foreign === undefined) return;
  throw new InvalidInputError({
    file: root,
    message: `holds other files (${foreign}) and no run`,
    remedy: 'Give an empty or new folder with -o.',
  });
}

/** Parts of a new run that only its invocation knows. */
export interface NewRunParts {
  readonly run: BenchmarkRun;
  readonly facts: RunRecord['facts'];
  readonly freeze: (layout: RunLayout) => Promise<SuiteIndex>;
  readonly now: () => Date;
}

/**
 * Makes the folder of a run, private to its owner: it will hold answers that no agent may read.
 *
 * @throws InvalidInputError when there can be no folder of this name
 */
export async function makeRunFolder(root: string): Promise<void> {
  try {
    await makeFolder(resolve(root));
  } catch (error) {
    if (errnoOf(error) === undefined || isDiskFull(error)) throw error;
    throw new InvalidInputError({
      file: root,
      message: `cannot be made (${messageOf(error)})`,
      remedy: 'Give a folder with -o that you may write to.',
    });
  }
}

/** mkdir with parents; the recursive one of Node.js never returns on file systems that refuse new folders as missing. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return;
    if (errnoOf(error) !== 'ENOENT' || existsSync(dirname(path))) throw error;
    await makeFolder(dirname(path));
    await mkdir(path, { mode: 0o700 });
  }
}

/** Freezes the suite, then writes run.json: from that moment the run exists. */
export async function createRun(root: string, parts: NewRunParts): Promise<OpenRun> {
  const layout = runLayout(root);
  for (const name of await readdir(root)) {
    if (CUT_OFF.test(name)) await rm(join(root, name), { recursive: true, force: true });
  }
  const index = await parts.freeze(layout);
  const { spec } = parts.run;
  const record: RunRecord = {
    schema_version: 1,
    name: parts.run.metadata.name,
    uid: randomUUID(),
    createdAt: parts.now().toISOString(),
    spec,
    suiteDigest: index.suiteDigest,
    declaredTrials: index.scenarios.length * spec.trialsPerScenario,
    facts: parts.facts,
    reruns: [],
  };
  await writeJsonDurably(layout.runJson, record, 0o600);
  return { layout, record, index };
}

/**
 * The run in `root` if it is the one that `run` declares.
 *
 * @throws InvalidInputError when the folder holds another run
 */
export function assertResumable(stored: OpenRun, run: BenchmarkRun): void {
  assertSameRun(stored.record, run.metadata.name, run.spec, stored.layout.root);
}
