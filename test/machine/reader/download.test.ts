import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { duplexPair, Transform, type Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { trialName } from '../../../src/api/names.ts';
import { runLayout } from '../../../src/api/run-layout.ts';
import { trialRecordSchema } from '../../../src/api/trial.ts';
import { manifestDigest, readManifest, writeManifest } from '../../../src/artifacts/manifest.ts';
import { downloadRun, type DownloadResult } from '../../../src/cli/download/download-run.ts';
import { ReaderClient } from '../../../src/cli/download/reader-client.ts';
import { DOWNLOAD_FOLDER, openTarget } from '../../../src/cli/download/target.ts';
import { writeStoredRun } from '../../support/stored-run.ts';
import { startReaderProcess, type ReaderProcess } from './reader-process.ts';

const UID = '00000000-0000-4000-8000-000000000001';
const RUN = { uid: UID, run: 'synthetic', namespace: 'team-a' };

let folder: string;
let volume: string;
let copy: string;
let reader: ReaderProcess;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'clawbench-download-'));
  volume = join(folder, 'volume');
  copy = join(folder, 'copy');
  writeStoredRun(volume, { scenarios: 3, trials: 2, retriesOf: (s) => (s === 1 ? 1 : 0) });
  await sealManifests(volume);
  mkdirSync(join(volume, 'suite/hidden/x'), { recursive: true });
  writeFileSync(join(volume, 'suite/hidden/x/answer.txt'), 'forty-two');
  writeFileSync(join(volume, 'big.bin'), Buffer.alloc(6_000_000, 'clawbench'));
  reader = await startReaderProcess(volume);
});

afterEach(async () => {
  await reader.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('copies everything but the answers, private to its owner, and verifies each attempt', async () => {
  const result = await download(reader.client());
  expect(result.problems).toEqual([]);
  expect(result.attempts).toBe(8);
  expect(result.kept).toBe(0);
  expect(filesOf(copy)).toEqual(filesOf(volume).filter((path) => !path.startsWith('suite/hidden/')));
  expect(readFileSync(join(copy, 'big.bin')).equals(readFileSync(join(volume, 'big.bin')))).toBe(true);
  expect(statSync(join(copy, 'run.json')).mode & 0o777).toBe(0o600);
  expect(statSync(copy).mode & 0o777).toBe(0o700);
});

test('copies the answers when asked', async () => {
  await download(reader.client(), true);
  expect(readFileSync(join(copy, 'suite/hidden/x/answer.txt'), 'utf8')).toBe('forty-two');
});

test('keeps what is there and mends what was changed', async () => {
  await download(reader.client());
  const before = statSync(join(copy, 'run.json')).mtimeMs;
  writeFileSync(join(copy, 'noop-baseline.json'), 'somebody wrote here');
  const again = await download(reader.client());
  expect(again.kept).toBe(again.files - 1);
  expect(statSync(join(copy, 'run.json')).mtimeMs).toBe(before);
  expect(readFileSync(join(copy, 'noop-baseline.json'), 'utf8')).toBe(
    readFileSync(join(volume, 'noop-baseline.json'), 'utf8'),
  );
});

test('goes on in the middle of a file that was cut off', async () => {
  const seen: number[] = [];
  // Each connection dies in the middle; five tries are enough for the file only if none starts anew.
  const client = new ReaderClient(async () => cutAfter(await reader.connect(), 1_400_000, seen));
  const result = await download(client);
  expect(result.problems).toEqual([]);
  expect(readFileSync(join(copy, 'big.bin')).equals(readFileSync(join(volume, 'big.bin')))).toBe(true);
  expect(seen.length).toBeGreaterThan(3);
});

test('goes on after it was interrupted', async () => {
  const abort = new AbortController();
  const stopped = download(reader.client(abort.signal), false, abort.signal, (files) => {
    if (files > 5) abort.abort(new Error('interrupted'));
  });
  await expect(stopped).rejects.toThrow('interrupted');
  expect(existsSync(join(copy, DOWNLOAD_FOLDER))).toBe(true);
  const result = await download(reader.client());
  expect(result.kept).toBeGreaterThan(4);
  expect(result.problems).toEqual([]);
  expect(existsSync(join(copy, DOWNLOAD_FOLDER))).toBe(false);
});

test('never continues a part with bytes of another version of the file', async () => {
  const abort = new AbortController();
  const client = new ReaderClient(async () => cutAfter(await reader.connect(), 3_000_000, []), abort.signal);
  const stopped = download(client, false, abort.signal);
  setTimeout(() => {
    abort.abort(new Error('interrupted'));
  }, 700);
  await stopped.catch(() => undefined);
  writeFileSync(join(volume, 'big.bin'), Buffer.alloc(6_000_000, 'other bytes'));
  await download(reader.client());
  expect(readFileSync(join(copy, 'big.bin')).equals(readFileSync(join(volume, 'big.bin')))).toBe(true);
});

test('takes over a file that the run writes anew meanwhile', async () => {
  let changed = false;
  const result = await download(reader.client(), false, undefined, () => {
    if (changed) return;
    changed = true;
    // As a score round does it: a new file in place of the old one.
    const path = join(volume, 'trials', trialOf(2, 2), 'score.json');
    const text = readFileSync(path, 'utf8');
    writeFileSync(`${path}.new`, `${text}\n`);
    renameSync(`${path}.new`, path);
  });
  expect(changed).toBe(true);
  expect(result.problems).toEqual([]);
});

describe('what is not as it was recorded', () => {
  test('is named: a file changed on the volume, one gone, one added', async () => {
    const attempt = runLayout(volume).trial(trialOf(0, 1)).attempt(1);
    writeFileSync(join(attempt.workspace, 'out/answer.json'), '{"total": 99}');
    rmSync(attempt.promptMd);
    writeFileSync(join(attempt.root, 'planted.txt'), 'new');
    const { problems } = await download(reader.client());
    expect(problems).toHaveLength(3);
    expect(problems.join('\n')).toContain('workspace/out/answer.json has other contents than recorded');
    expect(problems.join('\n')).toContain('prompt.md is recorded but not there');
    expect(problems.join('\n')).toContain('planted.txt is not in the manifest');
  });

  test('is named: a manifest in place of the recorded one', async () => {
    const attempt = runLayout(volume).trial(trialOf(0, 1)).attempt(1);
    writeFileSync(join(attempt.workspace, 'out/answer.json'), '{"total": 99}');
    await writeManifest(attempt.root, {
      workspace: {
        recordedAs: 'workspace',
        files: [],
        omitted: [],
        deleted: [],
        digest: '',
        bytes: 0,
      } as never,
    });
    const { problems } = await download(reader.client());
    expect(problems).toEqual([expect.stringContaining('is not the one that was recorded for this attempt')]);
  });

  test('bytes that are altered on their way are never taken', async () => {
    const client = new ReaderClient(async () => altered(await reader.connect()));
    await expect(download(client)).rejects.toMatchObject({ reason: 'TransferCorrupted' });
    expect(existsSync(join(copy, 'big.bin'))).toBe(false);
  });
});

describe('a reader that cannot be trusted', () => {
  test.each(['../evil', '/etc/evil', 'a/../../evil', 'a//b', '.'])('cannot name %s', async (path) => {
    const client = await hostileReader((response) => {
      response.end(
        `${JSON.stringify({ path, bytes: 1, mode: 0o644, sha256: '0'.repeat(64) })}\n{"end":true,"files":1,"bytes":1}\n`,
      );
    });
    await expect(download(client)).rejects.toMatchObject({ reason: 'ReaderAnswer' });
    expect(existsSync(join(folder, 'evil'))).toBe(false);
  });

  test('cannot pass a cut-off list for a whole one', async () => {
    const client = await hostileReader((response) => {
      response.end(`${JSON.stringify({ path: 'a', bytes: 0, mode: 0o644, sha256: '0'.repeat(64) })}\n`);
    });
    await expect(download(client)).rejects.toThrow('the file list was cut off');
  });

  test('of another protocol is refused by name', async () => {
    const client = await hostileReader((response) => {
      response.end(JSON.stringify({ protocol: 99, operatorVersion: '9.9.9' }));
    });
    await expect(client.greet()).rejects.toMatchObject({ reason: 'ReaderVersion' });
  });
});

describe('the folder', () => {
  test('of something else is left alone', async () => {
    mkdirSync(copy);
    writeFileSync(join(copy, 'thesis.txt'), 'mine');
    await expect(openTarget(copy, RUN)).rejects.toThrow('is not empty, and does not hold this run');
    expect(readdirSync(copy)).toEqual(['thesis.txt']);
  });

  test('of another run is left alone', async () => {
    await download(reader.client());
    await expect(openTarget(copy, { ...RUN, uid: 'another' })).rejects.toThrow('holds another run');
  });

  test('a file is refused', async () => {
    writeFileSync(copy, '');
    await expect(openTarget(copy, RUN)).rejects.toThrow('is a file');
  });
});

async function download(
  client: ReaderClient,
  withAnswers = false,
  signal: AbortSignal = new AbortController().signal,
  onFiles: (files: number) => void = () => undefined,
): Promise<DownloadResult> {
  try {
    return await downloadRun({
      reader: client,
      target: await openTarget(copy, RUN),
      withAnswers,
      signal,
      onProgress: ({ files }) => {
        onFiles(files);
      },
    });
  } finally {
    client.close();
  }
}

/** A connection that breaks after so many bytes. */
function cutAfter(stream: Duplex, limit: number, seen: number[]): Duplex {
  let bytes = 0;
  return through(stream, (chunk) => {
    bytes += chunk.length;
    if (bytes < limit) return chunk;
    seen.push(bytes);
    return null;
  });
}

/** A connection that changes one byte of what looks like the content of big.bin. */
function altered(stream: Duplex): Duplex {
  return through(stream, (chunk) => {
    const at = chunk.indexOf('clawbenchclaw');
    if (at >= 0) chunk[at] = 0x21;
    return chunk;
  });
}

function through(stream: Duplex, change: (chunk: Buffer) => Buffer | null): Duplex {
  const [near, far] = duplexPair();
  const fault = (): void => {
    near.destroy(new Error('socket hang up'));
    stream.destroy();
  };
  far.pipe(stream);
  stream
    .pipe(
      new Transform({
        transform(chunk: Buffer, _encoding, done) {
          const bytes = change(chunk);
          if (bytes === null) fault();
          else done(null, bytes);
        },
      }),
    )
    .pipe(far);
  near.on('error', () => undefined);
  far.on('error', () => undefined);
  near.once('close', () => stream.destroy());
  return Object.assign(near, {
    setKeepAlive: () => near,
    setNoDelay: () => near,
    setTimeout: () => near,
    ref: () => near,
    unref: () => near,
  });
}

async function hostileReader(answer: (response: ServerResponse) => void): Promise<ReaderClient> {
  const server = createServer((_request, response) => {
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  const { port } = server.address() as AddressInfo;
  return new ReaderClient(() => Promise.resolve(connect(port, '127.0.0.1')));
}

/** Gives the synthetic attempts manifests of all their files, and the records their digests. */
async function sealManifests(root: string): Promise<void> {
  const layout = runLayout(root);
  for (const name of readdirSync(layout.trials)) {
    const trial = layout.trial(name);
    const record = trialRecordSchema.parse(JSON.parse(readFileSync(trial.trialJson, 'utf8')));
    for (const attempt of record.attempts) {
      const at = trial.attempt(attempt.number).root;
      const old = await readManifest(at);
      await writeManifest(at, {
        workspace: {
          recordedAs: 'workspace',
          files: old?.files ?? [],
          omitted: [],
          deleted: old?.deleted ?? [],
          digest: old?.workspaceDigest ?? '',
          bytes: 0,
        } as never,
      });
      const manifest = await readManifest(at);
      if (attempt.artifacts !== null && manifest !== undefined) {
        Object.assign(attempt.artifacts, { digest: manifestDigest(manifest) });
      }
    }
    writeFileSync(trial.trialJson, JSON.stringify(record));
  }
}

function trialOf(scenario: number, number: number): string {
  const ids = ['tool_use_0001', 'planning_0002', 'constraints_0003'];
  return trialName('synthetic', UID, ids[scenario]!, number);
}

function filesOf(root: string, below = ''): string[] {
  return readdirSync(join(root, below), { withFileTypes: true })
    .flatMap((entry) => {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      return entry.isDirectory() ? filesOf(root, path) : [path];
    })
    .sort();
}
