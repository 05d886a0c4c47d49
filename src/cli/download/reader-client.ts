import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { InfrastructureError, messageOf } from '../../api/errors.ts';
import type { BytePath } from '../../artifacts/byte-path.ts';
import {
  encodePath,
  greetingSchema,
  isPlainPath,
  linePath,
  READER_PROTOCOL,
  treeLineSchema,
  type TreeFile,
  type TreeRefusal,
} from '../../pods/reader/protocol.ts';

/** Opens one more connection to the reader. */
export type Connect = (signal?: AbortSignal) => Promise<Duplex>;

/** The connection to the reader broke: what was asked may be asked again. */
export class ReaderConnectionError extends InfrastructureError {
  constructor(message: string, options?: ErrorOptions) {
    super('ReaderConnection', message, options);
  }
}

/** Connections that are kept; each is a WebSocket through the API server. Callers bound how many they open at once. */
const CONNECTIONS = 4;
/** Silence after which a connection is given up. Hashing one large file on a slow volume sends nothing meanwhile. */
const SILENCE_MS = 180_000;
/** A line names one path, at worst each byte of it escaped. */
const LONGEST_LINE = 65_536;

/** Reads a run's folder through a reader (src/pods/reader). What it says is checked, as every input is. */
export class ReaderClient {
  readonly #agent: Agent;
  readonly #signal: AbortSignal | undefined;

  constructor(connect: Connect, signal?: AbortSignal) {
    this.#signal = signal;
    this.#agent = new StreamAgent(connect, signal);
  }

  /**
   * Asks who is there.
   *
   * @throws InfrastructureError `ReaderVersion` when the other side speaks another protocol
   */
  async greet(): Promise<void> {
    const greeting = greetingSchema.safeParse(parseJson(await textOf(await this.#get('/'))));
    if (greeting.success && greeting.data.protocol === READER_PROTOCOL) return;
    const other = greeting.success ? ` (operator ${greeting.data.operatorVersion})` : '';
    throw new InfrastructureError(
      'ReaderVersion',
      `the reader in the cluster${other} does not speak this program's protocol; use the clawbench of the operator's version`,
    );
  }

  /**
   * Files below a path, in the reader's order.
   *
   * @param under '' for all
   * @param without files and folders that are neither read nor listed
   * @throws ReaderConnectionError when the list is cut off; InfrastructureError `ReaderAnswer` for a path that leaves the folder
   */
  async *tree(
    under: BytePath = '',
    without: readonly BytePath[] = [],
  ): AsyncGenerator<TreeFile | TreeRefusal> {
    const query = [
      ...(under === '' ? [] : [`under=${encodePath(under)}`]),
      ...without.map((path) => `without=${encodePath(path)}`),
    ].join('&');
    const response = await this.#get(`/tree?${query}`);
    let ended = false;
    for await (const text of lines(response)) {
      const line = treeLineSchema.safeParse(parseJson(text));
      if (!line.success) throw answerError(`a line of the file list is wrong: ${text.slice(0, 200)}`);
      if ('end' in line.data) {
        ended = true;
        continue;
      }
      const path = linePath(line.data);
      if (!isPlainPath(path) && !('refused' in line.data)) {
        throw answerError(
          `the file list names ${JSON.stringify(path.slice(0, 200))}, outside of the run's folder`,
        );
      }
      yield line.data;
    }
    if (!ended) throw new ReaderConnectionError('the file list was cut off');
  }

  /**
   * Bytes of a file from `start` to `end` (inclusive; default: to its end), or null where there is no such file.
   *
   * @throws ReaderConnectionError, also while the bytes are read
   */
  async file(path: BytePath, start = 0, end?: number): Promise<AsyncIterable<Buffer> | null> {
    const headers = start === 0 && end === undefined ? {} : { range: `bytes=${start}-${end ?? ''}` };
    const response = await this.#get(`/file?path=${encodePath(path)}`, headers, [404, 416]);
    if (response.statusCode === 404) {
      response.resume();
      return null;
    }
    if (response.statusCode === 416) {
      response.resume();
      return emptyBytes();
    }
    return bytesOf(response);
  }

  /** The whole of a small file, or null where there is none; a longer one than `limit` is refused. */
  async smallFile(path: BytePath, limit: number): Promise<Buffer | null> {
    const bytes = await this.file(path);
    if (bytes === null) return null;
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of bytes) {
      length += chunk.length;
      if (length > limit) throw answerError(`${path} has more than ${limit} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }

  /** Size of a file, or null where there is none. */
  async size(path: BytePath): Promise<number | null> {
    const response = await this.#get(`/file?path=${encodePath(path)}`, { range: 'bytes=0-0' }, [404, 416]);
    response.resume();
    if (response.statusCode === 404) return null;
    const total = /\/(\d{1,15})$/.exec(response.headers['content-range'] ?? '')?.[1];
    if (total === undefined) throw answerError('the answer does not say how long the file is');
    return Number(total);
  }

  close(): void {
    this.#agent.destroy();
  }

  async #get(
    path: string,
    headers: Readonly<Record<string, string>> = {},
    also: readonly number[] = [],
  ): Promise<IncomingMessage> {
    const signal = this.#signal;
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = httpRequest({
        agent: this.#agent,
        // Never resolved: the agent's connections all end at the reader.
        host: 'reader',
        path,
        headers,
        ...(signal === undefined ? {} : { signal }),
      });
      request.once('response', resolve);
      request.once('error', (error) => {
        reject(signal?.aborted === true ? (signal.reason as Error) : connectionError(error));
      });
      request.end();
    });
    const status = response.statusCode ?? 0;
    if (status < 300 || also.includes(status)) return response;
    throw answerError(`${path.split('?', 1)[0] ?? ''}: ${(await textOf(response)).trim()} (${status})`);
  }
}

class StreamAgent extends Agent {
  readonly #connect: Connect;
  readonly #signal: AbortSignal | undefined;

  constructor(connect: Connect, signal: AbortSignal | undefined) {
    super({ keepAlive: true, maxSockets: CONNECTIONS });
    this.#connect = connect;
    this.#signal = signal;
  }

  // Node.js declares the stream as always there; it takes none with an error.
  override createConnection(
    _options: unknown,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    this.#connect(this.#signal).then(
      (stream) => {
        // It may have failed together with its opening, and would never say so again to who listens only now.
        if (stream.destroyed) {
          const fault = stream.errored ?? new Error('it was closed at once');
          callback?.(fault, undefined as unknown as Duplex);
          return;
        }
        closeWhenSilent(stream);
        callback?.(null, stream);
      },
      (error: unknown) => callback?.(error as Error, undefined as unknown as Duplex),
    );
  }
}

/** Ends a connection that stopped to say anything, as one through a lost node does. */
function closeWhenSilent(stream: Duplex): void {
  const start = (): NodeJS.Timeout =>
    setTimeout(() => {
      stream.destroy(new Error(`nothing came for ${SILENCE_MS / 1000} s`));
    }, SILENCE_MS).unref();
  let timer = start();
  stream.once('close', () => {
    clearTimeout(timer);
  });
  // Only looks on, and only once HTTP reads: a listener of its own would start the flow and lose the first bytes.
  setImmediate(() => {
    stream.on('data', () => {
      clearTimeout(timer);
      timer = start();
    });
  });
}

async function* bytesOf(response: IncomingMessage): AsyncGenerator<Buffer> {
  const expected = Number(response.headers['content-length'] ?? Number.NaN);
  let length = 0;
  try {
    for await (const chunk of response) {
      const bytes = chunk as Buffer;
      length += bytes.length;
      yield bytes;
    }
  } catch (error) {
    throw connectionError(error);
  }
  if (Number.isFinite(expected) && length !== expected) {
    throw new ReaderConnectionError(`a file ended after ${length} of ${expected} bytes`);
  }
}

async function* emptyBytes(): AsyncGenerator<Buffer> {
  // Nothing: the file ends where the range starts.
}

async function* lines(response: IncomingMessage): AsyncGenerator<string> {
  let rest = '';
  response.setEncoding('utf8');
  try {
    for await (const chunk of response) {
      const parts = (rest + (chunk as string)).split('\n');
      rest = parts.pop() ?? '';
      if (rest.length > LONGEST_LINE) throw answerError('a line of the file list does not end');
      yield* parts;
    }
  } catch (error) {
    throw connectionError(error);
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of bytesOf(response)) {
    text += chunk.toString();
    if (text.length > LONGEST_LINE) throw answerError('the answer does not end');
  }
  return text;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Errors that say themselves what to do (no permission, nothing listens) stay what they are. */
function connectionError(error: unknown): Error {
  if (error instanceof Error && error.name !== 'Error' && error.name !== 'TypeError') return error;
  return new ReaderConnectionError(`the connection to the reader broke: ${messageOf(error)}`, {
    cause: error,
  });
}

function answerError(message: string): InfrastructureError {
  return new InfrastructureError('ReaderAnswer', message);
}
