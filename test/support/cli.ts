import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';

/** The checkout that these tests are part of. */
export const CHECKOUT = join(import.meta.dirname, '..', '..');

export interface CliResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A started `clawbench` and its end. */
export interface RunningCli {
  readonly child: ChildProcess;
  readonly result: Promise<CliResult>;
  /** Resolves when standard error has said `text`. */
  readonly said: (text: string) => Promise<void>;
}

/** Starts the real command line program, as `npm run -s clawbench --` does. */
export function startCli(args: readonly string[], env: Readonly<Record<string, string>> = {}): RunningCli {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', join(CHECKOUT, 'src/cli/main.ts'), ...args],
    { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let stdout = '';
  let stderr = '';
  const waiting: { text: string; resolve: () => void }[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    for (const wait of waiting) if (stderr.includes(wait.text)) wait.resolve();
  });
  const result = new Promise<CliResult>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      resolve({ code, signal, stdout, stderr });
    });
  });
  return {
    child,
    result,
    said: (text) =>
      new Promise((resolve, reject) => {
        if (stderr.includes(text)) resolve();
        waiting.push({ text, resolve });
        result.then(() => {
          reject(new Error(`ended without saying ${JSON.stringify(text)}: ${stderr}`));
        }, reject);
      }),
  };
}

/** Runs the command line program to its end. */
export async function cli(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CliResult> {
  return await startCli(args, env).result;
}
