import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sha256 } from '../../../src/files/digest.ts';
import { linePath, type TreeFile, type TreeRefusal } from '../../../src/pods/reader/protocol.ts';
import { startReaderProcess, type ReaderProcess } from './reader-process.ts';

let folder: string;
let reader: ReaderProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'clawbench-reader-'));
  const root = join(folder, 'run');
  mkdirSync(join(root, 'trials/a/attempts/1/workspace'), { recursive: true });
  mkdirSync(join(root, 'suite/hidden/x'), { recursive: true });
  writeFileSync(join(root, 'run.json'), '{"name": "r"}');
  writeFileSync(join(root, 'suite/hidden/x/answer.txt'), 'forty-two');
  writeFileSync(join(root, 'trials/a/attempts/1/workspace/out put%.txt'), 'made', { mode: 0o755 });
  writeFileSync(Buffer.from([...Buffer.from(`${root}/trials/a/attempts/1/workspace/`), 0xff, 0x41]), 'bytes');
  writeFileSync(join(root, 'empty'), '');
  writeFileSync(join(folder, 'outside.txt'), 'not to be seen');
  symlinkSync('../outside.txt', join(root, 'link.txt'));
  symlinkSync('..', join(root, 'up'));
  reader = await startReaderProcess(root);
});

afterAll(async () => {
  await reader.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('the list', () => {
  test('names every file with size, mode and digest, and no link', async () => {
    const lines = await collect(reader.client().tree());
    const files = lines.filter((line): line is TreeFile => 'sha256' in line);
    expect(files.map((file) => linePath(file))).toEqual([
      'empty',
      'run.json',
      'suite/hidden/x/answer.txt',
      'trials/a/attempts/1/workspace/out put%.txt',
      'trials/a/attempts/1/workspace/\xffA',
    ]);
    expect(files[3]).toMatchObject({ bytes: 4, sha256: sha256('made'), mode: 0o755 });
    expect(files[0]).toMatchObject({ bytes: 0, sha256: sha256('') });
    expect(lines.filter((line) => 'refused' in line).map((line) => line.path)).toEqual(['link.txt', 'up']);
  });

  test('leaves out what is not wanted and starts where it is told', async () => {
    const without = await collect(reader.client().tree('', ['suite/hidden']));
    expect(without.some((line) => line.path.startsWith('suite/'))).toBe(false);
    const under = await collect(reader.client().tree('suite'));
    expect(under.map((line) => line.path)).toEqual(['suite/hidden/x/answer.txt']);
    expect(await collect(reader.client().tree('run.json'))).toHaveLength(1);
    expect(await collect(reader.client().tree('nothing'))).toEqual([]);
  });
});

describe('a file', () => {
  test('comes whole, in ranges, and under names that are not UTF-8', async () => {
    const client = reader.client();
    expect(await read(await client.file('run.json'))).toBe('{"name": "r"}');
    expect(await read(await client.file('run.json', 2, 5))).toBe('name');
    expect(await read(await client.file('run.json', 9))).toBe(' "r"}'.slice(1));
    expect(await read(await client.file('empty'))).toBe('');
    expect(await read(await client.file('trials/a/attempts/1/workspace/\xffA'))).toBe('bytes');
    expect(await client.file('nothing')).toBeNull();
    expect(await client.size('run.json')).toBe(13);
    client.close();
  });

  test.each([
    ['/file?path=../outside.txt', 400],
    ['/file?path=..%2foutside.txt', 400],
    ['/file?path=%2Fetc%2Fpasswd', 400],
    ['/file?path=suite/../../outside.txt', 400],
    ['/file?path=run.json%00.txt', 400],
    ['/file?path=./run.json', 400],
    ['/file?path=', 400],
    ['/file?path=link.txt', 403],
    ['/file?path=up/outside.txt', 403],
    ['/file?path=suite', 403],
    ['/tree?under=..', 400],
    ['/tree?under=&without=..', 400],
    ['/nothing', 404],
  ])('%s is refused with %i', async (path, status) => {
    const response = await raw(path);
    expect([response.statusCode, await text(response)]).toEqual([
      status,
      expect.not.stringContaining('not to be seen'),
    ]);
  });

  test('is not served past its end', async () => {
    const response = await raw('/file?path=run.json', { range: 'bytes=13-' });
    expect(response.statusCode).toBe(416);
    expect(response.headers['content-range']).toBe('bytes */13');
    response.resume();
  });

  test('a link as a folder to start from is not followed', async () => {
    const lines = await collect(reader.client().tree('up'));
    expect(lines).toEqual([
      { path: 'up', refused: expect.stringContaining('without following links') as string },
    ]);
  });
});

test('nothing can be written', async () => {
  const response = await raw('/file?path=run.json', {}, 'PUT');
  expect(response.statusCode).toBe(405);
  response.resume();
});

test('it listens on the loopback device alone and ends by itself when nobody reads', async () => {
  const other = await startReaderProcess(folder, { idleSeconds: 1 });
  const [code] = (await once(other.child, 'exit')) as [number];
  expect(code).toBe(0);
});

async function collect(lines: AsyncIterable<TreeFile | TreeRefusal>): Promise<(TreeFile | TreeRefusal)[]> {
  const all: (TreeFile | TreeRefusal)[] = [];
  for await (const line of lines) all.push(line);
  return all;
}

async function read(bytes: AsyncIterable<Buffer> | null): Promise<string | null> {
  if (bytes === null) return null;
  const chunks: Buffer[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks).toString('latin1');
}

function raw(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get({ port: reader.port, host: '127.0.0.1', path, headers, method, agent: false }, resolve).once(
      'error',
      reject,
    );
  });
}
