import { Option, type Command } from 'commander';
import { MOUNTS, PORTS } from '../../api/pod-contract.ts';
import { startReader } from '../../pods/reader/reader-server.ts';
import { wholeNumber, positiveInteger } from '../option-parsers.ts';

interface ReaderFlags {
  readonly root: string;
  readonly port: number;
  readonly idleSeconds: number;
}

/**
 * `clawbench reader`, inside the cluster: serves a run's folder to whoever forwards a port to this pod, and ends
 * by itself when nobody reads any more, so that a command line that was killed leaves nothing running.
 */
export function registerReaderCommand(program: Command): void {
  program
    .command('reader', { hidden: true })
    .description("inside the cluster: serve a run's files on the pod's loopback device")
    .addOption(new Option('--root <dir>', 'folder of the run').default(MOUNTS.run))
    .addOption(new Option('--port <n>', 'port; 0 chooses one').argParser(wholeNumber).default(PORTS.reader))
    .addOption(
      new Option('--idle-seconds <n>', 'end after so long without a request')
        .argParser(positiveInteger)
        .default(300),
    )
    .action(async ({ root, port, idleSeconds }: ReaderFlags) => {
      const reader = await startReader({ root, port });
      console.log(`serving ${root} on 127.0.0.1:${reader.port}`);
      await new Promise<void>((resolve) => {
        const timer = setInterval(() => {
          if (reader.idleMs() > idleSeconds * 1000) end();
        }, 500);
        const end = (): void => {
          clearInterval(timer);
          resolve();
        };
        process.once('SIGTERM', end);
        process.once('SIGINT', end);
      });
      await reader.close();
    });
}
