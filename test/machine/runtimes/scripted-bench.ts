import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runtimeSpecSchema } from '../../../src/api/benchmark-run.ts';
import type { AttemptContext, SessionReading, TurnFile } from '../../../src/runtimes/adapter.ts';
import { scriptedAdapter } from '../../../src/runtimes/scripted/adapter.ts';

/** An attempt of the scripted runtime without a harness: folders, files written, processes started by hand. */
export interface Bench extends AsyncDisposable {
  readonly context: AttemptContext;
  readonly session: string;
  readonly start: (turn: number, message?: string) => Promise<RunningTurn>;
  /** Starts a turn and waits for its end. */
  readonly play: (turn: number, message?: string) => Promise<TurnEnd>;
  readonly read: () => Promise<SessionReading>;
}

export interface RunningTurn {
  readonly child: ChildProcess;
  readonly ended: Promise<TurnEnd>;
}

export interface TurnEnd {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

export async function scriptedBench(options: {
  readonly runtime?: Record<string, unknown>;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly workspace?: Readonly<Record<string, string>>;
  readonly attempt?: number;
}): Promise<Bench> {
  const root = await mkdtemp(join(tmpdir(), 'clawbench-scripted-'));
  const folder = (name: string) => join(root, name);
  for (const name of ['workspace', 'state', 'home', 'program', 'scripts']) await mkdir(folder(name));
  for (const [name, text] of Object.entries(options.scripts ?? {})) {
    await writeFile(join(folder('scripts'), `${name}.yaml`), text);
  }
  for (const [name, text] of Object.entries(options.workspace ?? {})) {
    await writeFile(join(folder('workspace'), name), text);
  }
  const context: AttemptContext = {
    trial: 'demo-0123456789',
    attempt: options.attempt ?? 1,
    scenario: {
      schema_version: 1,
      id: 'demo',
      format: 'scenario',
      surfaces: [],
      skills: [],
      turn: 60,
      total: 60,
      setupScript: null,
      teardownScript: null,
      workspaceDigest: '',
    },
    runtime: runtimeSpecSchema.parse({ id: 'scripted', ...options.runtime }),
    paths: {
      workspace: folder('workspace'),
      state: folder('state'),
      home: folder('home'),
      program: folder('program'),
      node: process.execPath,
    },
    modelEndpoint: null,
    modelId: null,
    scriptedDir: folder('scripts'),
  };
  try {
    await writeFiles(await scriptedAdapter.prepare(context));
  } catch (error) {
    await rm(root, { recursive: true, force: true });
    throw error;
  }
  const running = new Set<ChildProcess>();

  const start = async (turn: number, message = 'Do it.'): Promise<RunningTurn> => {
    const command = scriptedAdapter.turn(context, { turn, message, timeoutSeconds: 60 });
    await writeFiles(command.files);
    const [program, ...args] = command.argv;
    const child = spawn(program, args, {
      cwd: command.cwd,
      env: command.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const ended = new Promise<TurnEnd>((done, fail) => {
      child.once('error', fail);
      child.once('close', (code, signal) => {
        running.delete(child);
        done({ code, signal, stdout, stderr });
      });
    });
    return { child, ended };
  };

  return {
    context,
    session: join(folder('state'), 'session.jsonl'),
    start,
    play: async (turn, message) => await (await start(turn, message)).ended,
    read: async () => await scriptedAdapter.readSession(context),
    [Symbol.asyncDispose]: async () => {
      for (const child of running) child.kill('SIGKILL');
      await rm(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

async function writeFiles(files: readonly TurnFile[]): Promise<void> {
  for (const file of files) {
    await mkdir(dirname(file.path), { recursive: true });
    await writeFile(file.path, file.content, { mode: file.mode });
  }
}

/** Asks until the answer is defined. */
export async function eventually<T>(ask: () => Promise<T | undefined>, milliseconds = 15_000): Promise<T> {
  const end = Date.now() + milliseconds;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > end) throw new Error(`nothing came within ${milliseconds} ms`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** Text of a file, or undefined while there is none. */
export async function textOf(path: string): Promise<string | undefined> {
  return await readFile(path, 'utf8').catch(() => undefined);
}
