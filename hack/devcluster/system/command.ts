import { spawn } from 'node:child_process';
import { DevclusterError } from '../errors.ts';

export interface CommandOptions {
  readonly cwd?: string;
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Handed to the terminal instead of being returned. */
  readonly show?: boolean;
}

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end, whatever its exit code. @throws DevclusterError when it cannot be started */
export async function attempt(
  program: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const output = options.show === true ? 'inherit' : 'pipe';
  const child = spawn(program, [...args], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['pipe', output, output],
  });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
  // A program that ends without reading its input closes the pipe: its exit code says the rest.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(options.input ?? '');
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', (error) =>
      reject(new DevclusterError(`${program} cannot be started: ${error.message}`, { cause: error })),
    );
    child.once('close', (exitCode) => resolve(exitCode ?? 128));
  });
  return {
    code,
    stdout: Buffer.concat(stdout).toString('utf8'),
    stderr: Buffer.concat(stderr).toString('utf8'),
  };
}

/** Runs a program that has to succeed. @returns standard output @throws DevclusterError with the end of its errors */
export async function run(
  program: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  const result = await attempt(program, args, options);
  if (result.code !== 0) {
    const shown = [program, ...args].join(' ');
    const said = (result.stderr.trim() === '' ? result.stdout : result.stderr).trim().split('\n').slice(-15);
    throw new DevclusterError(`\`${shown.slice(0, 300)}\` ended with ${result.code}:\n${said.join('\n')}`);
  }
  return result.stdout;
}
