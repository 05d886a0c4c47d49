import { join } from 'node:path';
import type { z } from 'zod';
import { InvalidInputError, type InputProblem } from '../api/errors.ts';
import type { SuiteLayout } from '../api/run-layout.ts';
import { hiddenScenarioSchema, type HiddenScenario } from '../api/scenario.ts';
import {
  publicScenarioSchema,
  suiteFilesSchema,
  suiteIndexSchema,
  type PublicScenario,
  type SuiteFiles,
  type SuiteIndex,
} from '../api/suite-index.ts';
import { readJsonRecord } from '../files/durable.ts';
import { scenarioDigest, suiteDigest } from './digests.ts';
import { digestOf, readTree, type SuiteFile } from './tree.ts';

/** @throws InvalidInputError when there is no frozen suite, or its index is not one */
export async function readSuiteIndex(layout: SuiteLayout): Promise<SuiteIndex> {
  return await readRecord(suiteIndexSchema, layout.indexJson);
}

/** What an agent may know of a scenario. */
export async function readPublicScenario(layout: SuiteLayout, id: string): Promise<PublicScenario> {
  return await readRecord(publicScenarioSchema, join(layout.publicDir(id), 'public.json'));
}

/** What scoring needs of a scenario; never for a process that an agent can read. */
export async function readHiddenScenario(layout: SuiteLayout, id: string): Promise<HiddenScenario> {
  return await readRecord(hiddenScenarioSchema, join(layout.hiddenDir(id), 'hidden.json'));
}

/**
 * Hashes a frozen suite again: every file is there with the bytes and mode it was frozen with, no other file is,
 * and the digests of scenarios and suite follow from them.
 *
 * @returns what is wrong; empty when nothing is
 */
export async function verifyFrozenSuite(layout: SuiteLayout): Promise<readonly InputProblem[]> {
  const index = await readSuiteIndex(layout);
  const record = await readRecord(suiteFilesSchema, layout.filesJson);
  const tree = await readTree(layout.root);
  const problems: InputProblem[] = tree.problems.map(({ path, message }) => ({ file: path, message }));
  const present = new Map(tree.files.map((file) => [file.path, file]));
  present.delete('index.json');
  present.delete('files.json');
  for (const expected of record.files) {
    const file = present.get(expected.path);
    present.delete(expected.path);
    if (file === undefined)
      problems.push({ file: expected.path, message: 'is missing from the frozen suite' });
    else if (file.sha256 !== expected.sha256) problems.push({ file: expected.path, message: 'was changed' });
    else if (file.executable !== (expected.mode === '0755')) {
      problems.push({ file: expected.path, message: `has another mode than ${expected.mode}` });
    }
  }
  for (const path of present.keys())
    problems.push({ file: path, message: 'does not belong to the frozen suite' });
  problems.push(...digestProblems(index, record, tree.files));
  return problems;
}

function digestProblems(index: SuiteIndex, record: SuiteFiles, files: readonly SuiteFile[]): InputProblem[] {
  const problems: InputProblem[] = [];
  const below = (folder: string) =>
    digestOf(
      files
        .filter(({ path }) => path.startsWith(`${folder}/`))
        .map((file) => ({ ...file, path: file.path.slice(folder.length + 1) })),
    );
  const bundles = new Map<string, string>();
  const bundle = (digest: string) => {
    const known = bundles.get(digest) ?? below(`hidden/.checkers/${digest}`);
    bundles.set(digest, known);
    return known;
  };
  const scriptedWritten = files.some(({ path }) => path.startsWith('scripted/'));
  for (const entry of index.scenarios) {
    const digests = record.scenarios[entry.id];
    const consistent =
      digests !== undefined &&
      scenarioDigest(digests) === entry.digest &&
      digests.public === below(`public/${entry.id}`) &&
      digests.hidden === below(`hidden/${entry.id}`) &&
      (!scriptedWritten || digests.scripted === below(`scripted/${entry.id}`)) &&
      (digests.checker === null || digests.checker === bundle(digests.checker)) &&
      entry.workspaceDigest === below(`public/${entry.id}/workspace`) &&
      entry.checkerDigest === digests.checker;
    if (!consistent) {
      problems.push({
        file: 'index.json',
        field: entry.id,
        message: 'its digest does not follow from its files',
      });
    }
  }
  if (suiteDigest(index.format, index.scenarios) !== index.suiteDigest) {
    problems.push({
      file: 'index.json',
      field: 'suiteDigest',
      message: 'does not follow from the scenarios',
    });
  }
  return problems;
}

async function readRecord<Schema extends z.ZodType>(schema: Schema, path: string): Promise<z.output<Schema>> {
  const record = await readJsonRecord(schema, path);
  if (record !== undefined) return record;
  throw new InvalidInputError({
    file: path,
    message: 'is missing: this is no frozen suite, or no scenario of it',
    remedy: 'Check the folder of the run.',
  });
}
