import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eachBounded } from '../../../src/api/each-bounded.ts';
import { ReaderClient } from '../../../src/cli/download/reader-client.ts';
import { staticAccess } from '../../../src/kube/config.ts';
import { ApiStatusError, ApiUnreachableError } from '../../../src/kube/errors.ts';
import { forwardPort } from '../../../src/kube/port-forward.ts';
import { startForwarder } from './kubelet-stand-in.ts';
import { startReaderProcess, type ReaderProcess } from './reader-process.ts';

const POD = { namespace: 'team-a', name: 'smoke-reader' };

let folder: string;
let reader: ReaderProcess;
const cleanUp: (() => void)[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'clawbench-forward-'));
  mkdirSync(join(folder, 'many'));
  writeFileSync(join(folder, 'big.bin'), randomBytes(20_000_000));
  for (let i = 0; i < 60; i += 1) writeFileSync(join(folder, `many/${i}`), `file ${i}`);
  reader = await startReaderProcess(folder);
});

afterEach(async () => {
  for (const end of cleanUp.splice(0)) end();
  await reader.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('binary data of any size arrives unchanged, and many files over few connections', async () => {
  const forwarder = await startForwarder(() => reader.port);
  cleanUp.push(forwarder.stop);
  const client = new ReaderClient((signal) => forwardPort(staticAccess(forwarder.url), POD, 8090, signal));
  await client.greet();
  const digests = new Map<string, string>();
  for await (const line of client.tree()) if ('sha256' in line) digests.set(line.path, line.sha256);
  expect(digests.size).toBe(61);
  await eachBounded([...digests], 4, async ([path, digest]) => {
    const hash = createHash('sha256');
    for await (const chunk of (await client.file(path)) ?? []) hash.update(chunk);
    expect(hash.digest('hex')).toBe(digest);
  });
  client.close();
  // The path of the API server is kept, and connections are used again.
  expect(forwarder.paths[0]).toBe(
    '/prefix/api/v1/namespaces/team-a/pods/smoke-reader/portforward?ports=8090',
  );
  expect(forwarder.paths.length).toBeLessThanOrEqual(5);
});

test('a consumer that stops to read stops the sender', async () => {
  const forwarder = await startForwarder(() => reader.port);
  cleanUp.push(forwarder.stop);
  const stream = await forwardPort(staticAccess(forwarder.url), POD, 8090);
  stream.write('GET /file?path=big.bin HTTP/1.1\r\nhost: reader\r\n\r\n');
  stream.once('readable', () => undefined);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  expect(stream.readableLength).toBeLessThan(2_000_000);
  stream.destroy();
});

test('nothing that listens is said in a sentence', async () => {
  const port = await unusedPort();
  const forwarder = await startForwarder(() => port);
  cleanUp.push(forwarder.stop);
  const client = new ReaderClient((signal) => forwardPort(staticAccess(forwarder.url), POD, 8090, signal));
  await expect(client.greet()).rejects.toMatchObject({
    reason: 'PortForward',
    message: expect.stringContaining('port-forward pod smoke-reader:8090: error forwarding port') as string,
  });
  client.close();
});

test('a refusal keeps the words of the API server', async () => {
  const body = {
    kind: 'Status',
    message: 'pods "x" is forbidden: cannot create pods/portforward',
    reason: 'Forbidden',
  };
  const forwarder = await startForwarder(() => 0, { status: 403, body });
  cleanUp.push(forwarder.stop);
  const refused = forwardPort(staticAccess(forwarder.url), POD, 8090);
  await expect(refused).rejects.toThrow(ApiStatusError);
  await expect(refused).rejects.toMatchObject({
    code: 403,
    message: expect.stringContaining('forbidden') as string,
  });
});

test('no server at all is a cluster that cannot be reached', async () => {
  const port = await unusedPort();
  await expect(forwardPort(staticAccess(`http://127.0.0.1:${port}`), POD, 8090)).rejects.toThrow(
    ApiUnreachableError,
  );
});

test('an abort ends a handshake that is not answered', async () => {
  const server: Server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  const abort = new AbortController();
  const opening = forwardPort(staticAccess(`http://127.0.0.1:${port}`), POD, 8090, abort.signal);
  setTimeout(() => {
    abort.abort(new Error('interrupted'));
  }, 100);
  await expect(opening).rejects.toThrow('interrupted');
});

async function unusedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });
  return port;
}
