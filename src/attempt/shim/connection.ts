import { timingSafeEqual } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import { InfrastructureError, messageOf } from '../../api/errors.ts';
import { encodeMessage, fileMessages, parseFromShim, SHIM_PROTOCOL } from './protocol.ts';
import type { FromShim, ToShim } from './protocol.ts';
import { LineReader } from './shim.ts';

type Hello = Extract<FromShim, { type: 'hello' }>;
type Dead = Extract<FromShim, { type: 'dead' }>;
type StartTurn = Omit<Extract<ToShim, { type: 'start' }>, 'type'>;

/** How a turn's process ended, as far as the harness can know. */
export type TurnEnd =
  | (Omit<Extract<FromShim, { type: 'exit' }>, 'type' | 'turn'> & { readonly kind: 'exit' })
  /** It was never started. */
  | { readonly kind: 'failed'; readonly message: string }
  /** The shim is gone, and with it all knowledge about the agent's processes. */
  | { readonly kind: 'lost'; readonly message: string };

/** Takes a turn's output. Returns false to ask for a pause until `resume` is called. */
export type OutputSink = (stream: 'stdout' | 'stderr', bytes: Buffer, resume: () => void) => boolean;

export interface RunningTurn {
  /** Resolves when the process was started or the turn ended without that. */
  readonly started: Promise<void>;
  readonly ended: Promise<TurnEnd>;
}

/** Connections that may come and be refused before the right one; then the listener gives up. */
const MOST_STRANGERS = 64;
/** A connection that has not said hello by then is dropped. */
const HELLO_MS = 10_000;
const MAX_HELLO_BYTES = 4096;

/** The harness's end of the one connection to an executor. No method throws for what the other side does. */
export class ShimConnection {
  readonly hello: Hello;
  /** Resolves with the reason when the connection ends without our asking. */
  readonly lost: Promise<string>;
  private readonly socket: Socket;
  private readonly lines: LineReader;
  private gone: string | null = null;
  private tellLost: (reason: string) => void = () => undefined;
  private turn: {
    readonly number: number;
    readonly sink: OutputSink;
    readonly started: () => void;
    readonly ended: (end: TurnEnd) => void;
  } | null = null;
  private waitsForDead: ((dead: Dead | null) => void)[] = [];

  constructor(socket: Socket, lines: LineReader, hello: Hello, rest: readonly string[]) {
    this.socket = socket;
    this.lines = lines;
    this.hello = hello;
    this.lost = new Promise((resolve) => {
      this.tellLost = resolve;
    });
    socket.on('data', (chunk: Buffer) => this.receive(chunk));
    socket.on('error', (error) => this.lose(error.message));
    socket.on('close', () => this.lose('the shim closed its connection'));
    for (const line of rest) this.take(line);
  }

  get isLost(): boolean {
    return this.gone !== null;
  }

  /** Sends the files of a turn, in order; what cannot be written makes the next start fail. */
  writeFiles(files: Iterable<{ path: string; mode: number; content: string | Uint8Array }>): void {
    for (const file of files) {
      for (const message of fileMessages(file.path, file.mode, file.content)) this.send(message);
    }
  }

  start(turn: StartTurn, sink: OutputSink): RunningTurn {
    const started = Promise.withResolvers<undefined>();
    const ended = Promise.withResolvers<TurnEnd>();
    const end = (how: TurnEnd) => {
      this.turn = null;
      started.resolve(undefined);
      ended.resolve(how);
    };
    this.turn = { number: turn.turn, sink, started: () => started.resolve(undefined), ended: end };
    if (this.gone === null) this.send({ type: 'start', ...turn });
    else end({ kind: 'lost', message: this.gone });
    return { started: started.promise, ended: ended.promise };
  }

  /** SIGTERM to the process group of the running turn. */
  terminate(): void {
    this.send({ type: 'killAll', signal: 'SIGTERM' });
  }

  /** Kills every process of the executor. @returns what was left over, or null when the shim is gone */
  killAll(): Promise<Dead | null> {
    if (this.gone !== null) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.waitsForDead.push(resolve);
      this.send({ type: 'killAll' });
    });
  }

  /** Ends the shim. The connection is of no use afterwards. */
  end(): void {
    this.send({ type: 'end' });
    this.socket.end();
  }

  private send(message: ToShim): void {
    if (this.gone === null && this.socket.writable) this.socket.write(encodeMessage(message));
  }

  private receive(chunk: Buffer): void {
    const lines = this.lines.push(chunk);
    if (lines === null) this.refuse('a line beyond the bound');
    else for (const line of lines) this.take(line);
  }

  private take(line: string): void {
    if (this.gone !== null) return;
    const parsed = parseFromShim(line);
    if (!parsed.ok) {
      this.refuse(parsed.problem);
      return;
    }
    const { message } = parsed;
    switch (message.type) {
      case 'hello':
        this.refuse('a second hello');
        return;
      case 'started':
        if (message.turn === this.turn?.number) this.turn.started();
        return;
      case 'output': {
        // Output after the exit comes from processes that the turn left; nobody asked for it.
        if (message.turn !== this.turn?.number) return;
        const bytes = Buffer.from(message.base64, 'base64');
        if (!this.turn.sink(message.stream, bytes, () => this.socket.resume())) this.socket.pause();
        return;
      }
      case 'exit': {
        const { type: _type, turn, ...exit } = message;
        if (turn === this.turn?.number) this.turn.ended({ kind: 'exit', ...exit });
        return;
      }
      case 'failed':
        if (message.turn === this.turn?.number) this.turn.ended({ kind: 'failed', message: message.message });
        return;
      case 'dead':
        this.waitsForDead.shift()?.(message);
        return;
    }
  }

  /** Whoever speaks like this is not our shim any more. */
  private refuse(problem: string): void {
    this.lose(`the shim sent ${problem}`);
    this.socket.destroy();
  }

  private lose(reason: string): void {
    if (this.gone !== null) return;
    this.gone = reason;
    this.turn?.ended({ kind: 'lost', message: reason });
    for (const resolve of this.waitsForDead.splice(0)) resolve(null);
    this.tellLost(reason);
  }
}

export interface ShimListener {
  readonly port: number;
  /** @throws InfrastructureError `ShimMissing` when no shim came in time, or the signal aborted first */
  readonly connection: (timeoutMs: number, signal?: AbortSignal) => Promise<ShimConnection>;
  readonly close: () => void;
}

/**
 * Listens on the loopback device for exactly one shim and closes the listener when it has come. Where others
 * could reach the port (`token` is not null) only who knows the token is taken for the shim, and the rest is
 * refused.
 */
export async function listenForShim(options: {
  readonly port: number;
  readonly token: string | null;
}): Promise<ShimListener> {
  const { token } = options;
  const arrived = Promise.withResolvers<ShimConnection>();
  arrived.promise.catch(() => undefined); // told to whoever asks for the connection
  let taken = false;
  let strangers = 0;
  const server = createServer((socket) => {
    if (taken) {
      socket.destroy();
      return;
    }
    socket.setNoDelay(true);
    readHello(socket, token, (connection) => {
      if (taken) {
        socket.destroy();
        return;
      }
      taken = true;
      server.close();
      arrived.resolve(connection());
    });
    strangers += 1;
    if (strangers > MOST_STRANGERS) server.close();
  });
  await listen(server, options.port);
  const address = server.address();
  if (address === null || typeof address === 'string') {
    throw new InfrastructureError('ShimMissing', 'the listener for the shim has no port');
  }
  return {
    port: address.port,
    close: () => server.close(),
    connection: async (timeoutMs, signal) => {
      const missing = Promise.withResolvers<never>();
      const fail = (why: string) => missing.reject(new InfrastructureError('ShimMissing', why));
      const timer = setTimeout(fail, timeoutMs, `the shim did not connect within ${timeoutMs / 1000} s`);
      const abort = () => fail('the attempt was ended before the shim had connected');
      signal?.addEventListener('abort', abort, { once: true });
      if (signal?.aborted === true) abort();
      try {
        return await Promise.race([arrived.promise, missing.promise]);
      } catch (error) {
        taken = true;
        throw error;
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        server.close();
      }
    },
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      reject(new InfrastructureError('ShimMissing', `cannot listen for the shim: ${messageOf(error)}`));
    });
    server.listen({ host: '127.0.0.1', port, backlog: 16 }, () => resolve());
  });
}

/** Reads the first line of a newcomer; anything but the right hello ends it. */
function readHello(
  socket: Socket,
  token: string | null,
  accept: (connection: () => ShimConnection) => void,
): void {
  let read = Buffer.alloc(0);
  const drop = () => socket.destroy();
  const timer = setTimeout(drop, HELLO_MS);
  const onData = (chunk: Buffer) => {
    read = Buffer.concat([read, chunk]);
    const end = read.indexOf(10);
    // A stranger must not make us hold much: a hello is short.
    if (end === -1 && read.length < MAX_HELLO_BYTES) return;
    socket.off('data', onData);
    clearTimeout(timer);
    const parsed = parseFromShim(read.toString('utf8', 0, Math.max(end, 0)));
    if (!parsed.ok || parsed.message.type !== 'hello' || !isWelcome(parsed.message, token)) {
      socket.destroy();
      return;
    }
    const hello = parsed.message;
    accept(() => {
      socket.off('error', drop);
      const lines = new LineReader();
      return new ShimConnection(socket, lines, hello, lines.push(read.subarray(end + 1)) ?? []);
    });
  };
  socket.on('error', drop);
  socket.on('data', onData);
  socket.once('close', () => clearTimeout(timer));
}

function isWelcome(hello: Hello, token: string | null): boolean {
  if (hello.protocol !== SHIM_PROTOCOL) return false;
  if (token === null) return true;
  const [given, wanted] = [Buffer.from(hello.token ?? ''), Buffer.from(token)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
