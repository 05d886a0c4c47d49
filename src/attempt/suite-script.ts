import { OutputLog } from './output-log.ts';
import { within, type TurnSetting } from './run-turn.ts';

/**
 * Runs a script of the suite in the agent's workspace, as the agent's user, bounded by the `start` timeout; whatever
 * it leaves running is killed.
 *
 * @returns what went wrong, or null
 */
export async function runSuiteScript(
  { connection, executor, clock, timeouts, signal, patience }: TurnSetting,
  script: string,
  env: Readonly<Record<string, string>>,
  logs: string,
  name: string,
): Promise<string | null> {
  const log = await OutputLog.open(logs, name);
  const running = connection.start(
    {
      turn: 0,
      argv: ['/bin/sh', '-c', script],
      env,
      cwd: executor.paths.workspace,
      wallSeconds: timeouts.start,
    },
    (stream, bytes, resume) => log.take(stream, bytes, resume),
  );
  const over = new AbortController();
  const bound = clock.sleep(timeouts.start * 1000, AbortSignal.any([over.signal, signal]));
  const end = await Promise.race([running.ended, bound.then(() => null)]);
  over.abort();
  const dead = await within(connection.killAll(), clock, patience.answerMs);
  if (dead === null || dead.remaining > 0) await executor.destroy();
  await log.close();
  if (end === null) return `the ${name} script took longer than ${timeouts.start} s`;
  if (end.kind !== 'exit') return `the ${name} script could not be run: ${end.message}`;
  if (end.code === 0) return null;
  const how = end.signal ?? `code ${end.code ?? '?'}`;
  return `the ${name} script ended with ${how}: ${log.tail()}`;
}
