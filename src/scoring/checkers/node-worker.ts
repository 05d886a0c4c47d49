import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { accessSync, constants, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { PoolWorker, TaskContext } from '../pool/worker-task-pool.ts';
import { checkerEnvironment } from './environment.ts';
import { residentBytes } from './resident-bytes.ts';
import {
  DEFAULT_CHECKER_LIMITS,
  MAXIMUM_RESULT_BYTES,
  type FailureStatus,
  type PreparedGrading,
  type ProcessAnswer,
} from './types.ts';

const RUNNER = join(import.meta.dirname, 'node-runner.ts');
const PRLIMIT = '/usr/bin/prlimit';
const MEMORY_CHECK_MS = 100;
const OUTPUT_TAIL = 4096;
/** What a Node process occupies before it does anything, in bytes; not charged to the checker. */
const BASE_BYTES = 96 * 1024 * 1024;
const HEAP_MEGABYTES = DEFAULT_CHECKER_LIMITS.memoryBytes / 1024 ** 2;
/** Node's, when nothing is left to do and the main module still awaits. */
const UNSETTLED_EXIT_CODE = 13;

/** Where to start Node processes from, and what they may read. */
export interface NodeProgram {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * Writes the runner, its types stripped, where checkers may read it, and composes the command that starts it.
 *
 * @param root folder that holds the sandboxes and bundles; the only one that a checker may read
 */
export function prepareNodeProgram(root: string): NodeProgram {
  const runner = join(root, 'runner.mjs');
  writeFileSync(runner, stripTypeScriptTypes(readFileSync(RUNNER, 'utf8')));
  const node = [
    process.execPath,
    // No writing, no child processes, no threads, no add-ons, no network; reading beneath the root alone.
    '--permission',
    `--allow-fs-read=${root}/`,
    `--max-old-space-size=${HEAP_MEGABYTES}`,
    '--disable-warning=ExperimentalWarning',
    runner,
  ];
  const limits = ['--core=0', '--nofile=256', '--fsize=0'];
  const [command = process.execPath, ...args] = isExecutable(PRLIMIT) ? [PRLIMIT, ...limits, ...node] : node;
  return { command, args };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Keeps one Node process started ahead; each serves one grading and is then discarded. */
export class NodeWorker implements PoolWorker<PreparedGrading, ProcessAnswer> {
  readonly #program: NodeProgram;
  #next: CheckerProcess;

  constructor(program: NodeProgram) {
    this.#program = program;
    this.#next = new CheckerProcess(program);
  }

  async run(grading: PreparedGrading, context: TaskContext): Promise<ProcessAnswer> {
    if (this.#next.ended) this.#next = new CheckerProcess(this.#program);
    const answer = await this.#next.grade(grading, context);
    if (!context.signal.aborted) this.#next = new CheckerProcess(this.#program);
    return answer;
  }

  reusable(): boolean {
    return true;
  }

  async stop(): Promise<void> {
    await this.#next.kill();
  }
}

/** One Node process and what it left on its pipes. */
class CheckerProcess {
  readonly #process: ChildProcess;
  readonly #exited: Promise<void>;
  readonly #nonce = randomBytes(16).toString('hex');
  #result = '';
  #output = '';
  #outputBytes = 0;
  #verdict: { status: FailureStatus; message: string } | undefined;
  ended = false;

  constructor({ command, args }: NodeProgram) {
    this.#process = spawn(command, args, {
      env: checkerEnvironment(),
      cwd: '/',
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
      detached: true,
    });
    this.#exited = new Promise((resolve) => {
      this.#process.once('error', (error) => {
        this.#decide('crash', `the checker's process did not start: ${error.message}`);
        this.ended = true;
        resolve();
      });
      // `close` comes after the last bytes of all pipes.
      this.#process.once('close', () => {
        this.ended = true;
        resolve();
      });
    });
  }

  async grade(grading: PreparedGrading, context: TaskContext): Promise<ProcessAnswer> {
    const { limits } = grading;
    const started = performance.now();
    this.#listen(limits.outputBytes);
    const deadline = setTimeout(() => {
      this.#decide('timeout', `the checker ran longer than ${limits.seconds} s`);
    }, limits.seconds * 1000);
    const memoryWatch = setInterval(() => {
      if (residentBytes(this.#process.pid) > limits.memoryBytes + BASE_BYTES) {
        this.#decide('memory', `the checker used more than ${limits.memoryBytes} bytes of memory`);
      }
    }, MEMORY_CHECK_MS);
    try {
      this.#send(grading);
      context.transferred(performance.now() - started);
      await this.#exited;
    } finally {
      clearTimeout(deadline);
      clearInterval(memoryWatch);
    }
    return this.#answer();
  }

  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#exited;
  }

  #listen(outputBytes: number): void {
    const [, stdout, stderr, result] = this.#process.stdio as unknown as [
      Writable,
      Readable,
      Readable,
      Readable,
    ];
    for (const stream of [stdout, stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#outputBytes += Buffer.byteLength(text);
        this.#output = (this.#output + text).slice(-OUTPUT_TAIL);
        if (this.#outputBytes > outputBytes) {
          this.#decide('output', `the checker printed more than ${outputBytes} bytes`);
          stream.destroy();
        }
      });
    }
    result.setEncoding('utf8').on('data', (text: string) => {
      this.#result += text;
      if (this.#result.length > MAXIMUM_RESULT_BYTES) {
        this.#decide('output', `the grade is larger than ${MAXIMUM_RESULT_BYTES} bytes`);
        result.destroy();
      } else if (text.endsWith('\n')) {
        // The answer is whole: whatever the checker left running ends now.
        this.#process.kill('SIGKILL');
      }
    });
  }

  #send(grading: PreparedGrading): void {
    const header = JSON.stringify({
      nonce: this.#nonce,
      module: join(grading.bundle, grading.entry),
      workspace: grading.workspace,
      hidden: grading.hidden,
      tmp: grading.tmp,
      uid: grading.uid,
      gid: grading.gid,
    });
    const stdin = this.#process.stdin;
    // A write to a process that has died is seen by its exit.
    stdin?.on('error', () => undefined);
    stdin?.write(`${header.slice(0, -1)},"trace":`);
    stdin?.write(grading.payload);
    stdin?.end('}');
  }

  #decide(status: FailureStatus, message: string): void {
    this.#verdict ??= { status, message };
    this.#process.kill('SIGKILL');
  }

  #answer(): ProcessAnswer {
    const record = { output: this.#output, outputBytes: this.#outputBytes, leftovers: 0 };
    if (this.#verdict !== undefined) return { ...record, ...this.#verdict };
    if (this.#result.startsWith(this.#nonce) && this.#result.endsWith('\n')) {
      return { ...record, status: 'answered', answer: this.#result.slice(this.#nonce.length, -1) };
    }
    return { ...record, ...this.#ending() };
  }

  #ending(): { status: FailureStatus; message: string } {
    if (this.#output.includes('JavaScript heap out of memory')) {
      return { status: 'memory', message: 'the checker ran out of heap memory' };
    }
    const { exitCode, signalCode } = this.#process;
    if (signalCode !== null) return { status: 'crash', message: `the checker was killed by ${signalCode}` };
    if (exitCode === 0) {
      return { status: 'no_result', message: 'the checker exited with code 0 without a grade' };
    }
    if (exitCode === UNSETTLED_EXIT_CODE) {
      return { status: 'no_result', message: 'the checker awaits something that never happens' };
    }
    return {
      status: 'crash',
      message: `the checker exited with code ${exitCode ?? 'unknown'} without a grade`,
    };
  }
}
