import { mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { manifestSchema, type Manifest } from '../../api/manifest.ts';
import { trialName } from '../../api/names.ts';
import { runLayout } from '../../api/run-layout.ts';
import { trialRecordSchema, type TrialRecord } from '../../api/trial.ts';
import { bytePath, type BytePath } from '../../artifacts/byte-path.ts';
import { isPlainPath } from '../../pods/reader/protocol.ts';
import { openRun, type StoredRun } from '../../report/read-run.ts';
import { decidingAttempt } from '../../report/rows.ts';
import { parseTrialQuery } from '../../report/show.ts';
import { SHOW_LIMITS } from '../../report/trial-detail.ts';
import { eachBounded } from '../../api/each-bounded.ts';
import type { ReaderClient } from './reader-client.ts';

/** Longest record that is fetched whole; the index of a suite of thousands of scenarios is the longest one. */
const RECORD_BYTES = 67_108_864;
const FILES_AT_ONCE = 4;
const WORKSPACE = 'workspace/';

/**
 * Fetches what `clawbench show` reads of a run into a temporary folder, and removes that folder afterwards: the
 * records of the trials that are asked for and, where one scenario is, transcript and changed files of the attempts
 * that stand for them. Long files come with their beginning and end only, as they are shown.
 *
 * @param query SCENARIO or SCENARIO/n; undefined for all trials
 * @throws InvalidInputError when the run has no such trial, or nothing is stored yet
 */
export async function withShownFiles<Result>(
  reader: ReaderClient,
  query: string | undefined,
  work: (root: string) => Promise<Result>,
): Promise<Result> {
  const root = await mkdtemp(join(tmpdir(), 'clawbench-show-'));
  try {
    const fetcher = new Fetcher(reader, root);
    const layout = runLayout(root);
    await fetcher.all([layout.runJson, layout.suite.indexJson, layout.noopBaselineJson]);
    const stored = await openRun(root);
    await eachBounded(trialsOf(stored, query), FILES_AT_ONCE, async ({ id, number }) => {
      await fetchTrial(fetcher, stored, id, number, query !== undefined);
    });
    return await work(root);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

function trialsOf(stored: StoredRun, query: string | undefined): { id: string; number: number }[] {
  const wanted = query === undefined ? null : parseTrialQuery(query, stored);
  const numbers = Array.from({ length: stored.spec.trialsPerScenario }, (_, i) => i + 1);
  return stored.index.scenarios
    .filter(({ id }) => wanted === null || wanted.scenarioId === id)
    .flatMap(({ id }) =>
      numbers.filter((number) => (wanted?.trial ?? number) === number).map((number) => ({ id, number })),
    );
}

async function fetchTrial(
  fetcher: Fetcher,
  stored: StoredRun,
  id: string,
  number: number,
  detail: boolean,
): Promise<void> {
  const trial = stored.layout.trial(trialName(stored.run.name, stored.run.uid, id, number));
  const [record] = await Promise.all([fetcher.whole(trial.trialJson), fetcher.whole(trial.scoreJson)]);
  const known = parsed(trialRecordSchema, record) as TrialRecord | null;
  if (known === null) return;
  await fetcher.all(known.attempts.map((attempt) => trial.attempt(attempt.number).usageJson));
  const shown = decidingAttempt(known) ?? known.attempts.at(-1);
  if (!detail || shown === undefined) return;
  const attempt = trial.attempt(shown.number);
  await fetcher.bounded(attempt.transcriptJsonl, SHOW_LIMITS.transcript.bytes);
  const manifest = parsed(manifestSchema, await fetcher.whole(attempt.manifestJson)) as Manifest | null;
  const changed = (manifest?.files ?? []).filter(
    (file) =>
      file.origin === 'agent' &&
      file.pathBase64 === undefined &&
      file.path.startsWith(WORKSPACE) &&
      isPlainPath(bytePath(file.path)),
  );
  const initial = join(stored.layout.suite.publicDir(id), 'workspace');
  await eachBounded(changed.slice(0, SHOW_LIMITS.files.files), FILES_AT_ONCE, async ({ path }) => {
    await fetcher.bounded(join(attempt.root, path), SHOW_LIMITS.files.fileBytes);
    await fetcher.bounded(join(initial, path.slice(WORKSPACE.length)), SHOW_LIMITS.files.fileBytes);
  });
}

/** A record that its reader can use, or null: `show` itself says what is wrong with the others. */
function parsed(
  schema: { safeParse: (value: unknown) => { data?: unknown } },
  bytes: Buffer | null,
): unknown {
  if (bytes === null) return null;
  try {
    return schema.safeParse(JSON.parse(bytes.toString())).data ?? null;
  } catch {
    return null;
  }
}

/** Puts files of the run at the same places below a local folder. */
class Fetcher {
  readonly #reader: ReaderClient;
  readonly #root: string;

  constructor(reader: ReaderClient, root: string) {
    this.#reader = reader;
    this.#root = root;
  }

  async all(paths: readonly string[]): Promise<void> {
    await eachBounded(paths, FILES_AT_ONCE, async (path) => {
      await this.whole(path);
    });
  }

  /** Fetches a record; null where there is none. */
  async whole(path: string): Promise<Buffer | null> {
    const bytes = await this.#reader.smallFile(this.#remote(path), RECORD_BYTES);
    if (bytes === null) return null;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, bytes, { mode: 0o600 });
    return bytes;
  }

  /** Fetches a file whole, or of a longer one both halves of `limit`, with a hole of the right length between them. */
  async bounded(path: string, limit: number): Promise<void> {
    const remote = this.#remote(path);
    const size = await this.#reader.size(remote);
    if (size === null) return;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const file = await open(path, 'w', 0o600);
    try {
      const half = Math.floor(limit / 2);
      const ranges =
        size <= limit ? [[0, size - 1] as const] : [[0, half - 1] as const, [size - half, size - 1] as const];
      for (const [start, end] of size === 0 ? [] : ranges) {
        let at = start;
        for await (const chunk of (await this.#reader.file(remote, start, end)) ?? []) {
          await file.write(chunk, 0, chunk.length, at);
          at += chunk.length;
        }
      }
    } finally {
      await file.close();
    }
  }

  #remote(path: string): BytePath {
    return bytePath(relative(this.#root, path).replaceAll('\\', '/'));
  }
}
