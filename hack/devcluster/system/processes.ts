import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { DevclusterError } from '../errors.ts';
import { waitFor } from './wait.ts';

/** A process that is surely the one meant: numbers are used again, a number with its start time is not. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks between the start of the machine and of the process. */
  readonly startTime: string;
}

export interface ProcessPlan {
  readonly name: string;
  readonly argv: readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string>>;
  /** File that standard output and error are appended to. */
  readonly log: string;
  /** Killed by the kernel when the process that started it ends: for tests, which may be killed themselves. */
  readonly endsWithParent?: boolean;
}

/** Starts a process in a session of its own. @throws DevclusterError when the program cannot be started */
export function startProcess(plan: ProcessPlan): ProcessIdentity {
  mkdirSync(dirname(plan.log), { recursive: true });
  const log = openSync(plan.log, 'a', 0o644);
  try {
    const argv =
      plan.endsWithParent === true ? ['setpriv', '--pdeathsig', 'KILL', '--', ...plan.argv] : plan.argv;
    const [program = '', ...args] = argv;
    const child = spawn(program, args, {
      detached: true,
      stdio: ['ignore', log, log],
      env: { ...process.env, ...plan.env },
    });
    // Without a listener a program that is missing would end this process; below it is said with its name.
    child.once('error', () => undefined);
    child.unref();
    const startTime = child.pid === undefined ? undefined : startTimeOf(child.pid);
    if (child.pid === undefined || startTime === undefined)
      throw new DevclusterError(`${plan.name} (${program}) cannot be started`);
    return { pid: child.pid, startTime };
  } finally {
    closeSync(log);
  }
}

export function isAlive(identity: ProcessIdentity): boolean {
  return startTimeOf(identity.pid) === identity.startTime;
}

/** Asks a process to end, after `graceSeconds` makes it, and returns when it is gone. */
export async function endProcess(identity: ProcessIdentity, graceSeconds: number): Promise<void> {
  if (!isAlive(identity)) return;
  if (graceSeconds > 0) {
    signal(identity, 'SIGTERM');
    const end = performance.now() + graceSeconds * 1000;
    await waitFor(() => Promise.resolve(!isAlive(identity) || performance.now() > end ? true : undefined), {
      what: `process ${identity.pid} to end`,
      seconds: graceSeconds + 1,
      everyMilliseconds: 20,
    });
  }
  signal(identity, 'SIGKILL');
  await waitFor(() => Promise.resolve(isAlive(identity) ? undefined : true), {
    what: `process ${identity.pid} to be gone`,
    seconds: 10,
    everyMilliseconds: 5,
  });
}

function signal(identity: ProcessIdentity, name: 'SIGTERM' | 'SIGKILL'): void {
  if (!isAlive(identity)) return;
  try {
    process.kill(identity.pid, name);
  } catch {
    // It ended between the look and the signal.
  }
}

/** Undefined when there is no such process, or only its remains. */
export function startTimeOf(pid: number): string | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The name in parentheses may hold blanks and parentheses itself: what counts stands behind the last of them.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}

/** The last lines of a log, for an error message. */
export function logTail(path: string, lines = 8): string {
  try {
    return readFileSync(path, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
  } catch {
    return '(no log)';
  }
}
