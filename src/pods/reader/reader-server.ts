import { closeSync, createReadStream } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { OPERATOR_VERSION } from '../../api/version.ts';
import { decodePath, isPlainPath, READER_PROTOCOL, type TreeLine } from './protocol.ts';
import { openBelow, walkTree } from './walk-tree.ts';

export interface ReaderOptions {
  /** Folder of the run; nothing outside of it is served, and nothing is written. */
  readonly root: string;
  /** 0 chooses a free one. */
  readonly port: number;
}

export interface Reader {
  readonly port: number;
  /** Milliseconds since the last answer ended; 0 while one is being given. */
  readonly idleMs: () => number;
  readonly close: () => Promise<void>;
}

/** Connections at once; each costs a buffer or two. */
const MOST_CONNECTIONS = 32;

/**
 * Serves a run's files, read-only, on the loopback device alone: a port-forward ends there, and no other pod can
 * reach it, so that no credential is needed beside the one that the port-forward took.
 */
export async function startReader(options: ReaderOptions): Promise<Reader> {
  let running = 0;
  let lastMs = performance.now();
  const server = createServer({ requestTimeout: 30_000 }, (request, response) => {
    running += 1;
    response.once('close', () => {
      running -= 1;
      lastMs = performance.now();
    });
    answer(options.root, request, response).catch(() => response.destroy());
  });
  server.maxConnections = MOST_CONNECTIONS;
  server.keepAliveTimeout = 60_000;
  await listen(server, options.port);
  return {
    port: (server.address() as AddressInfo).port,
    idleMs: () => (running > 0 ? 0 : performance.now() - lastMs),
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

async function answer(root: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'GET') {
    refuse(response, 405, 'only GET is served');
    return;
  }
  const [path = '', query = ''] = (request.url ?? '').split('?', 2);
  const parameters = parseQuery(query);
  switch (path) {
    case '/':
      json(response, { protocol: READER_PROTOCOL, operatorVersion: OPERATOR_VERSION });
      return;
    case '/tree':
      await sendTree(root, parameters, response);
      return;
    case '/file':
      await sendFile(root, parameters, request, response);
      return;
    default:
      refuse(response, 404, 'there is /, /tree and /file');
  }
}

async function sendTree(root: string, parameters: Parameters, response: ServerResponse): Promise<void> {
  const under = parameters.get('under')?.[0] ?? '';
  const without = parameters.get('without') ?? [];
  if ([...(under === '' ? [] : [under]), ...without].some((path) => !isPlainPath(path))) {
    refuse(response, 400, 'a path must be relative, without . and ..');
    return;
  }
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  await pipeline(Readable.from(textOf(walkTree(root, under, new Set(without)))), response);
}

async function* textOf(lines: AsyncIterable<TreeLine>): AsyncGenerator<string> {
  for await (const line of lines) yield `${JSON.stringify(line)}\n`;
}

async function sendFile(
  root: string,
  parameters: Parameters,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = parameters.get('path')?.[0] ?? '';
  if (!isPlainPath(path)) {
    refuse(response, 400, 'a path must be relative, without . and ..');
    return;
  }
  const file = openBelow(root, path);
  if (file === 'missing' || file === 'refused') {
    if (file === 'missing') refuse(response, 404, 'there is no such file');
    else refuse(response, 403, 'this is not a regular file that can be read without following links');
    return;
  }
  const { size } = file.stats;
  const range = parseRange(request.headers.range, size);
  if (range === 'unsatisfiable') {
    closeSync(file.fd);
    response.setHeader('content-range', `bytes */${size}`);
    refuse(response, 416, 'the file ends before');
    return;
  }
  const { start, end } = range ?? { start: 0, end: size - 1 };
  response.writeHead(range === null ? 200 : 206, {
    'content-type': 'application/octet-stream',
    'content-length': end - start + 1,
    'accept-ranges': 'bytes',
    ...(range === null ? {} : { 'content-range': `bytes ${start}-${end}/${size}` }),
  });
  if (end < start) {
    closeSync(file.fd);
    response.end();
    return;
  }
  await pipeline(
    createReadStream('', { fd: file.fd, autoClose: true, start, end, highWaterMark: 262_144 }),
    response,
  );
}

/**
 * One range of bytes; null where the header asks for none that is understood, which means the whole file
 * (RFC 9110, section 14.2).
 */
export function parseRange(
  header: string | undefined,
  size: number,
): { readonly start: number; readonly end: number } | 'unsatisfiable' | null {
  const match = /^bytes=(\d{1,15})-(\d{0,15})$/.exec(header ?? '');
  if (match === null) return null;
  const start = Number(match[1]);
  const last = match[2] === '' ? size - 1 : Number(match[2]);
  if (last < start && match[2] !== '') return null;
  if (start >= size) return 'unsatisfiable';
  return { start, end: Math.min(last, size - 1) };
}

/** Values as byte paths, by name. */
type Parameters = ReadonlyMap<string, readonly string[]>;

function parseQuery(query: string): Parameters {
  const parameters = new Map<string, string[]>();
  for (const part of query === '' ? [] : query.split('&')) {
    const [name = '', value = ''] = part.split('=', 2);
    parameters.set(name, [...(parameters.get(name) ?? []), decodePath(value)]);
  }
  return parameters;
}

function json(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'text/plain' });
  response.end(`${message}\n`);
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
}
