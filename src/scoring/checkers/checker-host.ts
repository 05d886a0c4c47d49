import { availableParallelism } from 'node:os';
import { normaliseTrace } from '../normalise-trace.ts';
import type { CpuAdmission } from '../pool/cpu-admission.ts';
import { WorkerTaskPool } from '../pool/worker-task-pool.ts';
import { outcomeOf } from './answer.ts';
import { findPython, type PythonInterpreter } from './python-interpreter.ts';
import { NodeWorker, prepareNodeProgram, type NodeProgram } from './node-worker.ts';
import { PythonWorker } from './python-worker.ts';
import { createSandboxes } from './sandbox.ts';
import { createSpareUsers } from './spare-users.ts';
import {
  DEFAULT_CHECKER_LIMITS,
  type GradeOutcome,
  type GradeRequest,
  type PreparedGrading,
  type ProcessAnswer,
} from './types.ts';

export interface CheckerHostOptions {
  /** Python program to use; found on the machine when absent. */
  readonly python?: string | undefined;
  /** CPU admission; the process's shared one when absent. */
  readonly admission?: CpuAdmission;
  /** Gradings of one language prepared or running at once. */
  readonly maxWorkers?: number;
  /** Milliseconds after which a warm process that has nothing to do ends. */
  readonly idleMs?: number;
}

/** Grades by custom checkers, each grading in a process of its own. */
export interface CheckerHost {
  /**
   * A checker that throws, hangs, crashes or answers nonsense gives `ok: false`.
   *
   * @throws WorkerTaskError when too much is pending (`overloaded`), on abort (`cancelled`) or after `close`;
   *   system errors of copying the workspace
   */
  readonly grade: (request: GradeRequest, signal?: AbortSignal) => Promise<GradeOutcome>;
  /** Ends everything that runs and removes what was copied. */
  readonly close: () => Promise<void>;
}

const IDLE_MS = 30_000;

/** Starts no process before the first grading. */
export async function createCheckerHost(options: CheckerHostOptions = {}): Promise<CheckerHost> {
  const users = await createSpareUsers();
  const sandboxes = createSandboxes(users);
  const shared = {
    // One more than may compute, so that the next sandbox is made meanwhile.
    maxWorkers: options.maxWorkers ?? availableParallelism() + 1,
    idleMs: options.idleMs ?? IDLE_MS,
    ...(options.admission === undefined ? {} : { admission: options.admission }),
  };
  let finding: Promise<PythonInterpreter | undefined> | undefined;
  let python: PythonInterpreter | undefined;
  let nodeProgram: NodeProgram | undefined;
  const pools = {
    python: new WorkerTaskPool<PreparedGrading, ProcessAnswer>({
      ...shared,
      name: 'checkers-python',
      createWorker: () => new PythonWorker(python?.path ?? 'python3'),
    }),
    typescript: new WorkerTaskPool<PreparedGrading, ProcessAnswer>({
      ...shared,
      name: 'checkers-typescript',
      createWorker: () => new NodeWorker((nodeProgram ??= prepareNodeProgram(sandboxes.root))),
    }),
  };

  /** Whether a Python was found; asked once. */
  const pythonFound = async (): Promise<boolean> => {
    finding ??= findPython(
      options.python ?? process.env['CLAWBENCH_PYTHON'],
      users === null ? null : { uid: users.gid, gid: users.gid },
    );
    python = await finding;
    return python !== undefined;
  };

  return {
    grade: async (request, signal) => {
      if (request.checker.language === 'python' && !(await pythonFound())) return pythonMissing();
      const payload = Buffer.from(JSON.stringify(normaliseTrace(request.trace)));
      const answer = await pools[request.checker.language].run({
        inputBytes: payload.byteLength,
        signal,
        prepare: async () => ({
          ...(await sandboxes.create(request)),
          entry: request.checker.entry,
          limits: { ...DEFAULT_CHECKER_LIMITS, ...request.limits },
          payload,
        }),
        dispose: sandboxes.remove,
      });
      return outcomeOf(answer);
    },
    close: async () => {
      await Promise.all([pools.python.close(), pools.typescript.close()]);
      sandboxes.close();
      users?.close();
    },
  };
}

function pythonMissing(): GradeOutcome {
  return {
    ok: false,
    error: {
      reason: 'CheckerUnavailable',
      message:
        'the checker is written in Python, and no python3 (3.9 or newer) was found that its user can run; install python3 or set CLAWBENCH_PYTHON',
    },
    output: '',
    outputBytes: 0,
    leftovers: 0,
  };
}
