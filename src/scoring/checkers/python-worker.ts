import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import type { PoolWorker, TaskContext } from '../pool/worker-task-pool.ts';
import { checkerEnvironment } from './environment.ts';
import {
  MAXIMUM_RESULT_BYTES,
  REASON_OF_STATUS,
  type FailureStatus,
  type PreparedGrading,
  type ProcessAnswer,
} from './types.ts';

/** The fork server (checkers/python/ at the project's root). */
const HOST_PROGRAM = join(import.meta.dirname, '../../../checkers/python/clawbench_checker_host.py');
/** The fork server ends a grading itself; if it has not after so much more, it is ended. */
const GRACE_MS = 5000;
const STDERR_TAIL = 4096;

const record = { output: z.string(), outputBytes: z.number(), leftovers: z.number() };
const lineSchema = z.discriminatedUnion('status', [
  z.object({ ...record, status: z.literal('answered'), answer: z.string() }),
  z.object({
    ...record,
    status: z.enum(Object.keys(REASON_OF_STATUS) as [FailureStatus, ...FailureStatus[]]),
    message: z.string(),
  }),
  z.object({ ...record, status: z.literal('cancelled'), message: z.string() }),
]);

type HostProcess = ChildProcessByStdio<Writable, Readable, Readable>;

/** One fork server: warm after its first grading, one grading at a time, each in a fork of its own. */
export class PythonWorker implements PoolWorker<PreparedGrading, ProcessAnswer> {
  readonly #process: HostProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #exited: Promise<void>;
  #ready = false;
  #alive = true;
  #stderr = '';

  /** @param interpreter program from findPython */
  constructor(interpreter: string) {
    this.#process = spawn(interpreter, ['-s', '-B', HOST_PROGRAM], {
      env: checkerEnvironment(dirname(interpreter)),
      cwd: '/',
      stdio: ['pipe', 'pipe', 'pipe'],
      // Ctrl-C in a terminal is for us: we end gradings in order.
      detached: true,
    });
    this.#exited = new Promise((resolve) => {
      const gone = () => {
        this.#alive = false;
        resolve();
      };
      this.#process.once('error', gone);
      this.#process.once('exit', gone);
    });
    // A write to a process that has died is seen by its exit.
    this.#process.stdin.on('error', () => undefined);
    this.#process.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_TAIL);
    });
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  async run(grading: PreparedGrading, context: TaskContext): Promise<ProcessAnswer> {
    const deadline = setTimeout(
      () => this.#process.kill('SIGKILL'),
      grading.limits.seconds * 1000 + GRACE_MS + (this.#ready ? 0 : GRACE_MS),
    );
    try {
      if (!this.#ready) {
        if ((await this.#nextLine()) === undefined) return await this.#died('did not start');
        this.#ready = true;
      }
      const started = performance.now();
      this.#send(grading);
      context.transferred(performance.now() - started);
      const line = await this.#nextLine();
      if (line === undefined) return await this.#died('died during the grading');
      const answer = lineSchema.parse(JSON.parse(line));
      if (answer.status === 'cancelled') throw new Error('the grading was cancelled');
      return answer;
    } finally {
      clearTimeout(deadline);
    }
  }

  reusable(): boolean {
    return this.#alive;
  }

  async stop(): Promise<void> {
    if (!this.#alive) return;
    // At the end of its input the fork server kills what it runs, reaps everything and exits.
    this.#process.stdin.end();
    const deadline = setTimeout(() => this.#process.kill('SIGKILL'), GRACE_MS);
    await this.#exited;
    clearTimeout(deadline);
  }

  #send(grading: PreparedGrading): void {
    const header = {
      nonce: randomBytes(16).toString('hex'),
      bundle: grading.bundle,
      entry: grading.entry,
      workspace: grading.workspace,
      tmp: grading.tmp,
      uid: grading.uid,
      gid: grading.gid,
      ...grading.limits,
      resultBytes: MAXIMUM_RESULT_BYTES,
      payloadBytes: grading.payload.byteLength,
    };
    this.#process.stdin.write(Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), grading.payload]));
  }

  /** Undefined when the process ended instead. */
  async #nextLine(): Promise<string | undefined> {
    const next = await this.#lines.next();
    return next.done === true ? undefined : next.value;
  }

  async #died(what: string): Promise<ProcessAnswer> {
    if (this.#alive) await Promise.race([this.#exited, once(this.#process, 'close')]);
    return {
      status: 'crash',
      message: `the host of Python checkers ${what}: ${this.#stderr.trim() || 'it printed nothing'}`,
      output: '',
      outputBytes: 0,
      leftovers: 0,
    };
  }
}
