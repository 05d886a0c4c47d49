import {
  createServer,
  request as httpRequest,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { PROVIDER_ERROR_KINDS, type ProviderErrorKind } from '../api/attempt.ts';
import { messageOf } from '../api/errors.ts';
import { modelCallSchema, type ModelCallRecord } from '../api/model-calls.ts';
import { askGateway, GatewayAway } from './gateway-client.ts';
import { HeldClock } from './held-clock.ts';
import { BodyTooLarge, HEADERS, ReaderStalled, writePiece } from './http.ts';
import { REQUEST_BYTES } from './model-server.ts';
import { formatAt } from './wire/formats.ts';

/** Bounds of what an agent can have open here at once; what it opens beyond is closed or refused. */
const CONNECTIONS = 128;
const OPEN_CALLS = 48;
/** Ended calls that are remembered; the first go first. */
const REMEMBERED = 10_000;
const ATTEMPT_TO_CONNECT_MS = 5000;
const PAUSE_MS = 250;
/** An agent that sends a request or reads an answer with longer pauses is given up, before the gateway does it. */
const REQUEST_MS = 60_000;
const READER_MS = 30_000;
const TOO_LARGE = `a request has at most ${REQUEST_BYTES} bytes`;

/**
 * How a call ended, as the harness saw it:
 * `answered`: by the provider, whole and without an error of the provider; `provider_error`: the provider's error;
 * `gateway_down`: the run's own gateway did not answer as it should; `refused`: the gateway took the call for
 * wrong; `abandoned`: the agent hung up.
 */
export type EndpointCall = {
  /** ISO 8601. */
  readonly endedAt: string;
  readonly status: number | null;
} & (
  | { readonly result: 'answered' | 'refused' | 'abandoned' }
  | { readonly result: 'provider_error'; readonly error: ProviderErrorKind }
  | { readonly result: 'gateway_down'; readonly message: string }
);

export interface AttemptEndpointOptions {
  /** 0: any free one. */
  readonly port: number;
  /** http://host:port of the run's gateway. */
  readonly gatewayUrl: string;
  readonly token: string;
  /**
   * A word that the address begins with, where other attempts could reach this one's port: without it they would be
   * taken for this attempt.
   */
  readonly path?: string;
  /** How long a call waits for a gateway that is away, e.g. restarts, before it is given up; milliseconds. */
  readonly patienceMs?: number;
  /** How often the gateway is asked, while calls are open, whether it holds them; milliseconds. */
  readonly pollMs?: number;
}

/** The model endpoint of one attempt, on this machine's loopback device. */
export interface AttemptEndpoint {
  /** What the agent is told, without /v1. */
  readonly url: string;
  /** Milliseconds for which all the attempt's calls were held so far; never goes backwards. */
  readonly heldMs: () => number;
  /** The calls that ended so far, oldest first. */
  readonly calls: () => readonly EndpointCall[];
  /**
   * The attempt's calls as the gateway accounted for them.
   *
   * @throws Error when the gateway does not say
   */
  readonly accounted: () => Promise<readonly ModelCallRecord[]>;
  /** Takes no calls any more and breaks open ones off. */
  readonly close: () => Promise<void>;
}

/**
 * Starts the attempt's model endpoint: it passes model calls on to the run's gateway with the attempt's token, which
 * the agent never sees, and remembers how each ended. What it remembers is the harness's own word: no agent can write
 * into it, and hanging up is never taken for anybody's failure.
 *
 * @throws the system's error when the port cannot be had
 */
export async function startAttemptEndpoint(options: AttemptEndpointOptions): Promise<AttemptEndpoint> {
  const endpoint = new Endpoint(options);
  const { port } = options;
  const server = createServer((request, response) => endpoint.take(request, response));
  server.maxConnections = CONNECTIONS;
  server.requestTimeout = REQUEST_MS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve());
  });
  const path = options.path === undefined ? '' : `/${options.path}`;
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    heldMs: () => endpoint.held.ms(),
    calls: () => endpoint.calls,
    accounted: async () => {
      const told = await askGateway(options.gatewayUrl, options.token, '/attempts/self/calls');
      return modelCallSchema.array().parse((told as { calls?: unknown }).calls);
    },
    close: async () => {
      endpoint.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

class Endpoint {
  readonly calls: EndpointCall[] = [];
  readonly held: HeldClock;
  private readonly options: AttemptEndpointOptions;
  private readonly gateway: URL;
  private readonly open = new Set<AbortController>();
  private closed = false;

  constructor(options: AttemptEndpointOptions) {
    this.options = options;
    this.gateway = new URL(options.gatewayUrl);
    this.held = new HeldClock({
      ask: () => askGateway(options.gatewayUrl, options.token, '/attempts/self/waits'),
      pollMs: options.pollMs ?? 1000,
      patienceMs: options.patienceMs ?? 20_000,
      // The gateway's machine may be gone without a word: then nothing else would end these calls.
      onAway: (message) => {
        for (const controller of this.open) controller.abort(new GatewayAway(message));
      },
    });
  }

  take(request: IncomingMessage, response: ServerResponse): void {
    const path = this.pathOf(request);
    const wire = path === null ? undefined : formatAt(path);
    if (path === null || wire === undefined || request.method !== 'POST') {
      refuse(response, 404, 'not_found', 'there is no such model endpoint');
      return;
    }
    if (Number(request.headers['content-length'] ?? 0) > REQUEST_BYTES) {
      refuse(response, 413, 'request_too_large', TOO_LARGE);
      return;
    }
    if (this.open.size >= OPEN_CALLS || this.closed) {
      refuse(response, 429, 'too_many_open_calls', `there are ${OPEN_CALLS} calls open already`);
      return;
    }
    const controller = new AbortController();
    this.open.add(controller);
    this.held.opened();
    this.forward(path, request, response, controller)
      .then((call) => {
        if (this.calls.length >= REMEMBERED) this.calls.shift();
        this.calls.push(call);
      })
      .finally(() => {
        this.open.delete(controller);
        this.held.closed();
      })
      .catch(() => response.destroy());
  }

  close(): void {
    this.closed = true;
    this.held.stop();
    for (const controller of this.open) controller.abort();
  }

  /** Path behind the endpoint's own word; null when that is missing. */
  private pathOf(request: IncomingMessage): string | null {
    const path = (request.url ?? '').split('?')[0] ?? '';
    const own = this.options.path;
    if (own === undefined) return path;
    return path.startsWith(`/${own}/`) ? path.slice(own.length + 1) : null;
  }

  /** Carries one call to the gateway and its answer back. Never throws. */
  private async forward(
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
    controller: AbortController,
  ): Promise<EndpointCall> {
    const hungUp = new AbortController();
    const onClose = () => {
      if (!response.writableFinished) hungUp.abort();
    };
    response.once('close', onClose);
    const signal = AbortSignal.any([controller.signal, hungUp.signal]);
    let upstream: ClientRequest | null = null;
    const stop = () => upstream?.destroy(new Error('given up'));
    signal.addEventListener('abort', stop, { once: true });
    let status: number | null = null;
    try {
      const socket = await this.reach(signal);
      upstream = this.send(path, socket);
      const answer = await pipeRequest(request, upstream);
      status = answer.statusCode ?? 502;
      response.writeHead(status, headersFor(answer.headers));
      for await (const piece of answer as AsyncIterable<Buffer>) {
        await writePiece(response, piece, READER_MS);
      }
      const broken = answer.trailers[HEADERS.broken] !== undefined;
      // What the provider broke off must not look whole to the agent's runtime.
      if (broken) response.destroy();
      else response.end();
      return endOf(answer, status, broken);
    } catch (error) {
      stop();
      if (error instanceof BodyTooLarge) {
        refuse(response, 413, 'request_too_large', TOO_LARGE);
        return { endedAt: now(), status: 413, result: 'refused' };
      }
      // Order matters: whatever the agent's own side did is never the gateway's failure.
      const ownDoing = request.destroyed && !request.complete;
      if (hungUp.signal.aborted || ownDoing || error instanceof ReaderStalled || this.closed) {
        response.destroy();
        return { endedAt: now(), status, result: 'abandoned' };
      }
      const message = messageOf(controller.signal.aborted ? controller.signal.reason : error);
      if (response.headersSent) response.destroy();
      else
        refuse(response, 502, 'provider_unreachable', `the model's provider is not reachable (${message})`);
      return { endedAt: now(), status, result: 'gateway_down', message };
    } finally {
      response.off('close', onClose);
      signal.removeEventListener('abort', stop);
    }
  }

  /** A connection to the gateway; waits for one that is away, and the wait is on no clock of the agent. */
  private async reach(signal: AbortSignal): Promise<Socket> {
    const until = performance.now() + (this.options.patienceMs ?? 20_000);
    let waiting = false;
    try {
      for (;;) {
        try {
          return await connectTo(this.gateway, signal);
        } catch (error) {
          if (signal.aborted || performance.now() >= until) throw error;
          if (!waiting) this.held.beginWait();
          waiting = true;
          await delay(PAUSE_MS, undefined, { signal });
        }
      }
    } finally {
      if (waiting) this.held.endWait();
    }
  }

  /** Nothing of the agent's own headers is passed on: what it sends there could make the gateway refuse. */
  private send(path: string, socket: Socket): ClientRequest {
    return httpRequest({
      method: 'POST',
      path,
      host: this.gateway.hostname,
      // A connection of its own for each call: one that is reused may be closed just then, which looks like an outage.
      createConnection: () => socket,
      headers: {
        host: this.gateway.host,
        'content-type': 'application/json',
        authorization: `Bearer ${this.options.token}`,
        connection: 'close',
      },
    });
  }
}

/** How a call ended whose answer came through. */
function endOf({ statusCode = 0, headers }: IncomingMessage, status: number, broken: boolean): EndpointCall {
  const endedAt = now();
  const source = headers[HEADERS.source];
  if (source === 'provider') {
    const error = broken ? 'connection' : kindOf(headers[HEADERS.error]);
    return error === null
      ? { endedAt, status, result: 'answered' }
      : { endedAt, status, result: 'provider_error', error };
  }
  if (source === 'gateway' && statusCode < 500 && statusCode !== 401)
    return { endedAt, status, result: 'refused' };
  const who = source === 'gateway' ? 'the gateway' : "something in the gateway's place";
  return { endedAt, status, result: 'gateway_down', message: `${who} answered with status ${statusCode}` };
}

async function connectTo(gateway: URL, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted();
  return await new Promise<Socket>((resolve, reject) => {
    const socket = connect({
      host: gateway.hostname.replace(/^\[|\]$/g, ''),
      port: Number(gateway.port === '' ? 80 : gateway.port),
    });
    const fail = (error: Error) => {
      signal.removeEventListener('abort', onAbort);
      socket.destroy();
      reject(error);
    };
    const onAbort = () => fail(new Error('given up'));
    socket.setTimeout(ATTEMPT_TO_CONNECT_MS, () => fail(new GatewayAway('the gateway does not answer')));
    socket.once('error', fail);
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('connect', () => {
      signal.removeEventListener('abort', onAbort);
      socket.off('error', fail);
      socket.setTimeout(0);
      socket.removeAllListeners('timeout');
      resolve(socket);
    });
  });
}

/** Sends a request's body as it comes, at most so much of it. @returns the answer's head */
function pipeRequest(request: IncomingMessage, upstream: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let bytes = 0;
    upstream.once('response', resolve);
    // Stays for good: a socket that breaks later must not end the program.
    upstream.on('error', reject);
    request.on('data', (piece: Buffer) => {
      bytes += piece.byteLength;
      if (bytes > REQUEST_BYTES) upstream.destroy(new BodyTooLarge());
      else if (!upstream.write(piece)) {
        request.pause();
        upstream.once('drain', () => request.resume());
      }
    });
    request.once('end', () => upstream.end());
    request.once('error', reject);
  });
}

function headersFor(headers: IncomingHttpHeaders): Record<string, string> {
  const kept = ['content-type', 'retry-after'] as const;
  return Object.fromEntries(
    kept.flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function kindOf(header: string | string[] | undefined): ProviderErrorKind | null {
  return PROVIDER_ERROR_KINDS.find((kind) => kind === header) ?? null;
}

function refuse(response: ServerResponse, status: number, code: string, message: string): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify({ error: { message, type: code, param: null, code } }));
}

function now(): string {
  return new Date().toISOString();
}
