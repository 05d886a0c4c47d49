import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Answerer = (request: SeenRequest, response: ServerResponse) => void | Promise<void>;

/** An HTTP server on a real socket that answers as a test wants it to, and counts. */
export class LoopbackServer {
  readonly requests: SeenRequest[] = [];
  /** Connections accepted since the start. */
  accepted = 0;
  answer: Answerer;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(answer: Answerer) {
    this.answer = answer;
    this.#server = createServer((request, response) => {
      response.on('error', () => undefined);
      this.#handle(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
    this.#server.keepAliveTimeout = 60_000;
    this.#server.on('connection', (socket) => {
      this.accepted += 1;
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  static async start(answer: Answerer): Promise<LoopbackServer> {
    const loopback = new LoopbackServer(answer);
    await loopback.listen(0);
    return loopback;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get open(): number {
    return this.#sockets.size;
  }

  listen(port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, '127.0.0.1', () => resolve());
    });
  }

  /** Cuts every connection. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.cut();
    await closed;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://loopback');
    const seen: SeenRequest = {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body: await text(request),
    };
    this.requests.push(seen);
    await this.answer(seen, response);
  }
}

export function sendJson(
  response: ServerResponse,
  code: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** A failure as an API server says it. */
export function sendStatus(
  response: ServerResponse,
  code: number,
  reason: string,
  headers: Record<string, string> = {},
  rest: object = {},
): void {
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    reason,
    code,
    message: `it is ${reason}`,
  };
  sendJson(response, code, { ...status, ...rest }, headers);
}
