import type { Agent } from 'node:http';
import { Duplex } from 'node:stream';
import type { ClientOptions, WebSocket } from 'ws';
import { InfrastructureError } from '../api/errors.ts';
import type { ClusterAccess, Credentials } from './config.ts';
import { ApiStatusError, parseStatus, toUnreachable } from './errors.ts';
import type { ObjectRef } from './object.ts';
import { objectPath, PODS } from './resource.ts';

/** The kubelet's framing: one byte of channel, then bytes; of a forwarded port 0 is data and 1 is a fault. */
const SUBPROTOCOL = 'v4.channel.k8s.io';
const DATA = 0;
const FAULT = 1;
/** Each channel first says which port it is of. */
const PORT_BYTES = 2;
const HANDSHAKE_MS = 30_000;

/**
 * Opens a connection to a port on the loopback device of a pod, through the API server, as `kubectl port-forward`
 * does; one WebSocket for each connection. Bytes go both ways with back-pressure. A fault that the kubelet reports,
 * e.g. that nothing listens, destroys the stream with an InfrastructureError `PortForward`.
 *
 * The client library has a port-forward too; it has no back-pressure, so that a large file would lie in memory, and
 * it never says that a connection ended.
 *
 * @throws ApiStatusError (no such pod, not permitted), ApiUnreachableError, or the reason of `signal`
 */
export async function forwardPort(
  access: ClusterAccess,
  pod: ObjectRef,
  port: number,
  signal?: AbortSignal,
): Promise<Duplex> {
  const request = `port-forward pod ${pod.name}:${port}`;
  const url = new URL(access.server.replace(/^http/, 'ws'));
  url.pathname = url.pathname.replace(/\/+$/, '') + objectPath(PODS, pod, 'portforward');
  url.search = `ports=${port}`;
  signal?.throwIfAborted();
  try {
    return await connect(access, url, await access.credentials(), request, signal);
  } catch (thrown) {
    if (!(thrown instanceof ApiStatusError) || thrown.code !== 401) throw thrown;
    return connect(access, url, await access.refresh(), request, signal);
  }
}

async function connect(
  access: ClusterAccess,
  url: URL,
  { headers, tls }: Credentials,
  request: string,
  signal: AbortSignal | undefined,
): Promise<Duplex> {
  // Only the commands that forward ports pay for loading it.
  const { WebSocket } = await import('ws');
  const agent = access.proxyUrl === null ? undefined : await proxyAgent(access.proxyUrl, url);
  const options: ClientOptions = {
    headers,
    ...tls,
    ...(agent === undefined ? {} : { agent }),
    handshakeTimeout: HANDSHAKE_MS,
    // Data is compressed or encrypted already where that matters.
    perMessageDeflate: false,
    followRedirects: false,
  };
  const socket = new WebSocket(url, [SUBPROTOCOL], options);
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      socket.terminate();
      reject(signal?.reason as Error);
    };
    signal?.addEventListener('abort', abort, { once: true });
    const settle = (): void => signal?.removeEventListener('abort', abort);
    socket.once('unexpected-response', (_request, response) => {
      settle();
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text = (text + chunk).slice(0, 10_000)));
      response.once('close', () => {
        reject(new ApiStatusError(request, response.statusCode ?? 500, parseStatus(text)));
        socket.terminate();
      });
    });
    socket.once('error', (error) => {
      settle();
      reject(toUnreachable(request, error));
    });
    socket.once('open', () => {
      settle();
      resolve(new ForwardedStream(socket, request));
    });
  });
}

async function proxyAgent(proxy: string, url: URL): Promise<Agent> {
  const { HttpProxyAgent, HttpsProxyAgent } = await import('hpagent');
  return url.protocol === 'wss:' ? new HttpsProxyAgent({ proxy }) : new HttpProxyAgent({ proxy });
}

/** One forwarded connection; it also answers what Node.js asks of a socket that it speaks HTTP over. */
class ForwardedStream extends Duplex {
  readonly #socket: WebSocket;
  readonly #request: string;
  readonly #portBytesLeft = [PORT_BYTES, PORT_BYTES];
  #fault = '';

  constructor(socket: WebSocket, request: string) {
    super();
    this.#socket = socket;
    this.#request = request;
    socket.on('message', (data: Buffer) => {
      this.#take(data);
    });
    socket.on('close', () => {
      this.#end();
    });
    socket.on('error', (error) => this.destroy(toUnreachable(request, error)));
    // Whoever speaks HTTP over it listens too; but a fault may come before or after that, and must not end the program.
    this.on('error', () => undefined);
  }

  override _read(): void {
    if (this.#socket.isPaused) this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const frame = Buffer.allocUnsafe(chunk.length + 1);
    frame[0] = DATA;
    chunk.copy(frame, 1);
    this.#socket.send(frame, (error) => {
      done(error instanceof Error ? toUnreachable(this.#request, error) : null);
    });
  }

  /** This framing cannot say that one direction ends; whoever has read everything destroys the stream. */
  override _final(done: () => void): void {
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.terminate();
    done(error);
  }

  // What HTTP asks of a socket. The connection below is kept alive by its own means.
  setKeepAlive(): this {
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  setTimeout(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }

  #take(message: Buffer): void {
    const channel = message[0] ?? DATA;
    const skip = Math.min(this.#portBytesLeft[channel] ?? 0, message.length - 1);
    if (channel < this.#portBytesLeft.length)
      this.#portBytesLeft[channel] = (this.#portBytesLeft[channel] ?? 0) - skip;
    const bytes = message.subarray(1 + skip);
    if (bytes.length === 0) return;
    if (channel === DATA) {
      if (!this.push(bytes)) this.#socket.pause();
    } else if (channel === FAULT) {
      this.#fault = (this.#fault + bytes.toString()).slice(0, 2000);
      this.destroy(new InfrastructureError('PortForward', `${this.#request}: ${this.#fault.trim()}`));
    }
  }

  #end(): void {
    if (this.destroyed) return;
    this.push(null);
    // Nothing that is written from now on can arrive.
    this.end();
  }
}
