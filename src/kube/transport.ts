import { Agent, type Dispatcher, ProxyAgent } from 'undici';
import { type Clock, systemClock } from '../api/clock.ts';
import { OPERATOR_VERSION } from '../api/version.ts';
import type { ClusterAccess, Credentials, TlsMaterial } from './config.ts';
import { ApiStatusError, parseStatus, type RequestSummary, toUnreachable } from './errors.ts';

/** One finished request, for metrics. `code` is the HTTP code, or `unreachable`, or `aborted`. */
export interface RequestReport {
  readonly verb: string;
  /** Plural name, with the subresource: `trials`, `trials/status`. */
  readonly resource: string;
  readonly code: string;
  readonly seconds: number;
}
export type OnRequest = (report: RequestReport) => void;

export interface TransportOptions {
  readonly clock?: Clock;
  readonly onRequest?: OnRequest;
  readonly userAgent?: string;
  /** Silence of the server after which a try is given up; not for the stream of a watch. Default 30 s. */
  readonly requestTimeoutMs?: number;
  /** Sockets kept for requests; writes are CPU-bound at the server, so more brings nothing. Default 16. */
  readonly maxSockets?: number;
  /** Bounds of waiting as the server asks with Retry-After: tries after the first, and seconds in all. */
  readonly throttle?: { readonly tries: number; readonly totalSeconds: number };
}

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly verb: string;
  readonly resource: string;
  readonly summary: RequestSummary;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

const DEFAULT_THROTTLE = { tries: 5, totalSeconds: 30 };
const RESET_CODES: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/**
 * HTTP to one API server. All requests share one keep-alive agent; watches, which hold a socket each, share
 * another, so that they can never starve requests. HTTP/1.1: over one HTTP/2 connection a dead peer would stall
 * every request and watch at once.
 */
export class Transport {
  readonly #access: ClusterAccess;
  readonly #origin: string;
  /** Proxies such as Rancher's serve a cluster below a path. */
  readonly #basePath: string;
  readonly #clock: Clock;
  readonly #options: TransportOptions;
  readonly #throttle: { readonly tries: number; readonly totalSeconds: number };
  #agents: { readonly tls: string; readonly requests: Dispatcher; readonly watches: Dispatcher } | null =
    null;
  #closed = false;

  constructor(access: ClusterAccess, options: TransportOptions = {}) {
    this.#access = access;
    const server = new URL(access.server);
    this.#origin = server.origin;
    this.#basePath = server.pathname.replace(/\/+$/, '');
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#throttle = options.throttle ?? DEFAULT_THROTTLE;
  }

  /**
   * Sends a request and parses the answer. 429 and 503 with Retry-After are tried again, whatever the verb: the
   * server says by them that it did not begin.
   *
   * @throws ApiStatusError, ApiUnreachableError, or the reason of `signal`
   */
  async send(request: ApiRequest): Promise<unknown> {
    let waitedSeconds = 0;
    for (let attempt = 0; ; attempt += 1) {
      const answer = await this.#once(request, attempt === 0);
      if (answer === RETRY_READ) continue;
      if (answer.code < 300) return parseJson(request, answer.text);
      const status = parseStatus(answer.text);
      const error = new ApiStatusError(request.summary, answer.code, status, answer.retryAfterSeconds);
      const wait = answer.code === 429 || answer.code === 503 ? error.retryAfterSeconds : null;
      if (wait === null || attempt >= this.#throttle.tries) throw error;
      // A little more each, so that all who were told the same second do not come back together.
      const seconds = wait + Math.random() * Math.max(0.1, wait * 0.2);
      waitedSeconds += seconds;
      if (waitedSeconds > this.#throttle.totalSeconds) throw error;
      await this.#clock.sleep(seconds * 1000, request.signal);
      request.signal?.throwIfAborted();
    }
  }

  /**
   * Opens a stream and returns its body once the server has accepted. The caller ends it by aborting `signal`.
   *
   * @throws ApiStatusError, ApiUnreachableError, or the reason of `signal`
   */
  async open(request: ApiRequest & { readonly signal: AbortSignal }): Promise<AsyncIterable<Uint8Array>> {
    const response = await this.#dispatch(request, 'watches', request.timeoutMs);
    if (response.statusCode < 300) return response.body;
    const text = await response.body.text();
    throw new ApiStatusError(
      request.summary,
      response.statusCode,
      parseStatus(text),
      retryAfter(response.headers),
    );
  }

  /** Ends every connection, running requests and watches included. */
  async close(): Promise<void> {
    this.#closed = true;
    const agents = this.#agents;
    this.#agents = null;
    if (agents !== null) await Promise.all([agents.requests.destroy(), agents.watches.destroy()]);
  }

  async #once(request: ApiRequest, mayRetryRead: boolean): Promise<Answer | typeof RETRY_READ> {
    try {
      const timeoutMs = request.timeoutMs ?? this.#options.requestTimeoutMs ?? 30_000;
      const response = await this.#dispatch(request, 'requests', timeoutMs);
      const text = await response.body.text();
      return { code: response.statusCode, text, retryAfterSeconds: retryAfter(response.headers) };
    } catch (thrown) {
      request.signal?.throwIfAborted();
      const error = toUnreachable(request.summary, thrown);
      // The server closed an idle connection just as we wrote: a read is simply asked again, once.
      if (mayRetryRead && request.method === 'GET' && RESET_CODES.has(error.code)) return RETRY_READ;
      throw error;
    }
  }

  /** One HTTP exchange up to the headers, and a second one with fresh credentials after 401. */
  async #dispatch(
    request: ApiRequest,
    kind: 'requests' | 'watches',
    timeoutMs: number | undefined,
  ): Promise<Dispatcher.ResponseData> {
    const started = this.#clock.monotonicMs();
    let code = 'unreachable';
    try {
      let response = await this.#exchange(request, kind, timeoutMs, await this.#access.credentials());
      if (response.statusCode === 401) {
        await response.body.dump();
        response = await this.#exchange(request, kind, timeoutMs, await this.#access.refresh());
      }
      code = String(response.statusCode);
      return response;
    } catch (thrown) {
      if (request.signal?.aborted === true) {
        code = 'aborted';
        request.signal.throwIfAborted();
      }
      throw toUnreachable(request.summary, thrown);
    } finally {
      const seconds = (this.#clock.monotonicMs() - started) / 1000;
      this.#options.onRequest?.({ verb: request.verb, resource: request.resource, code, seconds });
    }
  }

  async #exchange(
    request: ApiRequest,
    kind: 'requests' | 'watches',
    timeoutMs: number | undefined,
    credentials: Credentials,
  ): Promise<Dispatcher.ResponseData> {
    request.signal?.throwIfAborted();
    const { method, path, body } = request;
    return this.#agentsFor(credentials.tls)[kind].request({
      origin: this.#origin,
      path: `${this.#basePath}${path}${queryString(request.query)}`,
      method,
      headers: {
        ...credentials.headers,
        accept: 'application/json',
        'user-agent': this.#options.userAgent ?? `clawbench-operator/${OPERATOR_VERSION}`,
        ...(body === undefined ? {} : { 'content-type': request.contentType ?? 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: request.signal ?? null,
      headersTimeout: timeoutMs ?? 30_000,
      // A watch is silent as long as nothing happens: its reader has a bound of its own.
      bodyTimeout: kind === 'watches' ? 0 : (timeoutMs ?? 30_000),
    });
  }

  /** The shared agents; new ones when certificates were rotated, while the old ones end their work. */
  #agentsFor(tls: TlsMaterial): { readonly requests: Dispatcher; readonly watches: Dispatcher } {
    if (this.#closed) throw new Error('the client is closed');
    const fingerprint = JSON.stringify(tls);
    const held = this.#agents;
    if (held?.tls === fingerprint) return held;
    const make = (connections: number | null) => makeAgent(this.#access.proxyUrl, tls, connections);
    this.#agents = {
      tls: fingerprint,
      requests: make(this.#options.maxSockets ?? 16),
      watches: make(null),
    };
    if (held !== null) {
      void held.requests.close();
      void held.watches.close();
    }
    return this.#agents;
  }
}

interface Answer {
  readonly code: number;
  readonly text: string;
  readonly retryAfterSeconds: number | null;
}
const RETRY_READ = Symbol('retry read');

function makeAgent(proxyUrl: string | null, tls: TlsMaterial, connections: number | null): Dispatcher {
  const shared = {
    connections,
    allowH2: false,
    connectTimeout: 10_000,
    keepAliveTimeout: 30_000,
  };
  // TCP keep-alive at half the idle limit of common load balancers.
  const connect = { ...tls, keepAlive: true, keepAliveInitialDelay: 30_000, timeout: 10_000 };
  return proxyUrl === null
    ? new Agent({ ...shared, connect })
    : new ProxyAgent({ ...shared, uri: proxyUrl, requestTls: connect });
}

function parseJson(request: ApiRequest, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    throw toUnreachable(request.summary, new Error('the answer is not JSON', { cause: thrown }));
  }
}

/** Seconds of a Retry-After header; a date in it is not used by any API server. */
function retryAfter(headers: Dispatcher.ResponseData['headers']): number | null {
  const value = Number(headers['retry-after'] ?? Number.NaN);
  return Number.isFinite(value) && value >= 0 ? value : null;
}

function queryString(query: ApiRequest['query']): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}
