import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { runtimeSpecSchema } from '../../../src/api/benchmark-run.ts';
import type { PublicScenario } from '../../../src/api/suite-index.ts';
import { resolveTimeouts, timeoutsSpecSchema, type ResolvedTimeouts } from '../../../src/api/timeouts.ts';
import type { Isolation } from '../../../src/api/vocabulary.ts';
import type { ExecutorLimits } from '../../../src/attempt/executor.ts';
import type { AttemptRequest } from '../../../src/attempt/attempt-request.ts';
import { runAttempt } from '../../../src/attempt/run-attempt.ts';
import { NO_SESSION } from '../../../src/attempt/collect.ts';
import { launchLocalExecutor, type LocalExecutor } from '../../../src/local/executor/local-executor.ts';
import { openLocalHost, type LocalHost } from '../../../src/local/executor/local-host.ts';
import type { RuntimeAdapter } from '../../../src/runtimes/adapter.ts';

/** The clocks of tests: seconds where the real ones are minutes. */
export function quickTimeouts(own: Partial<ResolvedTimeouts> = {}): ResolvedTimeouts {
  const { timeouts } = resolveTimeouts(timeoutsSpecSchema.parse({}), {});
  const quick = {
    start: 15,
    startupSilence: 10,
    stall: 10,
    turn: 10,
    total: 20,
    settle: 0,
    wall: 30,
    collect: 20,
  };
  return { ...timeouts, ...quick, ...own };
}

/** An adapter whose agent is a little program: the text of a Node.js module, told as the scenario's prompt. */
export const programAdapter: RuntimeAdapter = {
  id: 'scripted',
  version: 'test',
  toolMap: { version: 'test', tools: {} },
  surfaces: [],
  completesWith: () => null,
  validate: () => [],
  prepare: () => Promise.resolve([]),
  turn: ({ paths }, { message, turn }) => ({
    argv: [paths.node, '--no-warnings', join(paths.state, `turn-${turn}.mjs`)],
    env: {},
    cwd: paths.workspace,
    files: [{ path: join(paths.state, `turn-${turn}.mjs`), mode: 0o600, content: message }],
  }),
  liveness: ({ paths }) => [join(paths.state, 'session.log')],
  readSession: () => Promise.resolve(NO_SESSION),
};

export const isRoot = process.getuid?.() === 0;

/** Waits until something holds, looking often. */
export async function until(condition: () => boolean | Promise<boolean>, seconds = 10): Promise<void> {
  const end = performance.now() + seconds * 1000;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`did not come true within ${seconds} s`);
    await delay(20);
  }
}

/** Fails when a file still grows: somebody is alive who writes to it. */
export async function expectStill(path: string, ms = 300): Promise<void> {
  const size = async () => (existsSync(path) ? (await stat(path)).size : 0);
  const before = await size();
  await delay(ms);
  if ((await size()) !== before) throw new Error(`${path} still grows`);
}

export function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** A module text that appends to `file` (in the workspace) every 10 ms, for ever. */
export const heartbeat = (file = 'beats') =>
  `import { appendFileSync } from 'node:fs'; setInterval(() => appendFileSync(${JSON.stringify(file)}, '.'), 10);`;

export const NO_LIMITS: ExecutorLimits = { memoryBytes: null, pids: null, diskBytes: null };

/** A folder of the test's own, with a frozen scenario in it. */
export class Bench implements AsyncDisposable {
  readonly root: string;
  readonly host: LocalHost;
  readonly executors: LocalExecutor[] = [];
  private number = 0;

  private constructor(root: string, host: LocalHost) {
    this.root = root;
    this.host = host;
  }

  static async open(isolation?: Isolation): Promise<Bench> {
    const root = await mkdtemp(join(tmpdir(), 'clawbench-attempt-'));
    const hide = [join(root, 'dir')];
    await mkdir(join(root, 'dir', 'hidden'), { recursive: true, mode: 0o700 });
    await writeFile(join(root, 'dir', 'hidden', 'answer.txt'), 'forty-two');
    const host = await openLocalHost({ hide, ...(isolation === undefined ? {} : { isolation }) });
    return new Bench(root, host);
  }

  /** Runs an attempt whose agent is the given module text. */
  async run(
    program: string,
    options: {
      readonly limits?: Partial<ExecutorLimits>;
      readonly files?: Readonly<Record<string, string>>;
      readonly scenario?: Partial<PublicScenario>;
      readonly request?: Partial<AttemptRequest>;
      readonly onLaunch?: (executor: LocalExecutor) => void;
      /** Looks at what is there when the attempt has ended and before it is cleared away. */
      readonly atEnd?: (executor: LocalExecutor) => Promise<void>;
    } = {},
  ) {
    this.number += 1;
    const publicDir = join(this.root, 'dir', `public-${this.number}`);
    const attemptDir = join(this.root, 'dir', 'attempts', String(this.number));
    await mkdir(join(publicDir, 'workspace'), { recursive: true });
    await writeFile(join(publicDir, 'prompt.md'), program);
    for (const [path, text] of Object.entries(options.files ?? {})) {
      await mkdir(dirname(join(publicDir, path)), { recursive: true });
      await writeFile(join(publicDir, path), text);
    }
    const executor = await launchLocalExecutor(this.host, {
      trial: 'trial',
      attempt: this.number,
      limits: { ...NO_LIMITS, ...options.limits },
    });
    this.executors.push(executor);
    options.onLaunch?.(executor);
    const scenario: PublicScenario = {
      schema_version: 1,
      id: 'a_scenario',
      format: 'scenario',
      surfaces: [],
      skills: [],
      turn: null,
      total: null,
      setupScript: null,
      teardownScript: null,
      workspaceDigest: '',
      ...options.scenario,
    };
    try {
      const result = await runAttempt(
        {
          trial: 'trial',
          attempt: this.number,
          podUID: 'here',
          scenario,
          publicDir,
          attemptDir,
          adapter: programAdapter,
          runtime: runtimeSpecSchema.parse({ id: 'scripted' }),
          modelEndpoint: null,
          modelId: null,
          scriptedDir: null,
          timeouts: quickTimeouts(),
          versions: { operator: 'test', runtime: 'test' },
          patience: { killGraceMs: 300, answerMs: 3000 },
          ...options.request,
        },
        executor,
      );
      await options.atEnd?.(executor);
      return { result, attemptDir, executor };
    } finally {
      await executor.dispose();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.host.close();
    await rm(this.root, { recursive: true, force: true });
  }
}

/** The kinds of isolation that can be had here, strongest first; what the machine lacks is not tested. */
export const ISOLATIONS_HERE: readonly Isolation[] = await (async () => {
  await using bench = await Bench.open();
  const strongest = bench.host.choice.isolation;
  const all: readonly Isolation[] = isRoot ? ['container', 'uid', 'none'] : ['container', 'none'];
  return all.slice(all.indexOf(strongest));
})();
