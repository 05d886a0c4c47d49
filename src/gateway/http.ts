import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Headers by which the gateway tells an attempt's endpoint, which is ours, who answered and how. */
export const HEADERS = {
  /** `provider` or `gateway`. */
  source: 'x-clawbench-source',
  /** A ProviderErrorKind, where the provider answered with an error. */
  error: 'x-clawbench-error',
  /** Trailer: the provider broke off. */
  broken: 'x-clawbench-broken',
} as const;

/** A request's body is larger than allowed. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';
}

/** The caller hung up while its request was read. */
export class CallerGone extends Error {
  override readonly name = 'CallerGone';
}

/**
 * Reads a whole body.
 *
 * @throws BodyTooLarge, CallerGone
 */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw new BodyTooLarge();
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of request as AsyncIterable<Buffer>) {
      bytes += piece.byteLength;
      if (bytes > limit) throw new BodyTooLarge();
      pieces.push(piece);
    }
  } catch (error) {
    if (error instanceof BodyTooLarge) throw error;
    throw new CallerGone('the caller hung up', { cause: error });
  }
  return Buffer.concat(pieces);
}

/** The token of `Authorization: Bearer <token>`, or undefined. */
export function bearerOf(request: IncomingMessage): string | undefined {
  return /^Bearer ([\w.-]+)$/i.exec(request.headers.authorization ?? '')?.[1];
}

/** Answers with JSON, in the gateway's own name. What is left of the request is not read. */
export function sendJson(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const body = typeof value === 'string' ? value : JSON.stringify(value);
  response.writeHead(status, {
    'content-type': 'application/json',
    [HEADERS.source]: 'gateway',
    ...(request.complete ? {} : { connection: 'close' }),
    ...headers,
  });
  response.end(body);
}

export interface Listener {
  readonly port: number;
  /** Takes no further connections; those with nothing on them are closed. */
  readonly stop: () => Promise<void>;
}

/** Starts a server. @throws the system's error when the port cannot be had */
export async function listen(handler: RequestListener, host: string, port: number): Promise<Listener> {
  const server = createServer(handler);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve());
  });
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        // A connection becomes idle when its last answer has gone out, which nothing tells.
        const sweep = setInterval(() => server.closeIdleConnections(), 50);
        server.close(() => {
          clearInterval(sweep);
          resolve();
        });
      }),
  };
}

/** The reader of an answer takes nothing more, and has not hung up either. */
export class ReaderStalled extends Error {
  override readonly name = 'ReaderStalled';
}

/**
 * Writes a piece of an answer; resolves when more can be taken, or the reader is gone.
 *
 * @throws ReaderStalled when nothing was taken for `patienceMs`
 */
export async function writePiece(
  response: ServerResponse,
  piece: Uint8Array,
  patienceMs: number,
): Promise<void> {
  if (response.destroyed || response.write(piece)) return;
  await new Promise<void>((resolve, reject) => {
    const settle = (then: () => void) => () => {
      clearTimeout(timer);
      response.off('drain', done);
      response.off('close', done);
      then();
    };
    const done = settle(resolve);
    const timer = setTimeout(
      settle(() => reject(new ReaderStalled('the answer is not read'))),
      patienceMs,
    );
    response.once('drain', done);
    response.once('close', done);
  });
}
