import { spawn, type ChildProcess } from 'node:child_process';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { once } from 'node:events';
import { join } from 'node:path';
import { ReaderClient } from '../../../src/cli/download/reader-client.ts';
import { CHECKOUT } from '../../support/cli.ts';

/** The real `clawbench reader` in a process of its own. */
export interface ReaderProcess {
  readonly port: number;
  readonly child: ChildProcess;
  readonly connect: () => Promise<Duplex>;
  readonly client: (signal?: AbortSignal) => ReaderClient;
  readonly stop: () => Promise<void>;
}

export async function startReaderProcess(
  root: string,
  options: { readonly port?: number; readonly idleSeconds?: number } = {},
): Promise<ReaderProcess> {
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      join(CHECKOUT, 'src/cli/main.ts'),
      'reader',
      '--root',
      root,
      '--port',
      String(options.port ?? 0),
      '--idle-seconds',
      String(options.idleSeconds ?? 60),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  child.stdout.setEncoding('utf8');
  const [said] = (await once(child.stdout, 'data')) as [string];
  const port = Number(/127\.0\.0\.1:(\d+)/.exec(said)?.[1]);
  const open = async (): Promise<Duplex> => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  };
  return {
    port,
    child,
    connect: open,
    client: (signal) => new ReaderClient(open, signal),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}
