import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { InfrastructureError } from '../../api/errors.ts';
import type { SuiteLayout } from '../../api/run-layout.ts';
import type { ScriptStep } from '../../api/scenario.ts';
import { traceSchema, type Trace } from '../../api/trace.ts';
import type { Behaviour } from '../../api/vocabulary.ts';
import { scriptedConfigSchema } from '../../runtimes/scripted/config.ts';
import { PLACEHOLDER, type AgentPlan, type AgentTurn } from '../../runtimes/scripted/plan.ts';
import { PROGRAM_NAME, scriptedProgram } from '../../runtimes/scripted/program.ts';
import { readScriptedSession } from '../../runtimes/scripted/session.ts';
import { readPublicScenario } from '../../suite/frozen.ts';

/** What the agent left of one script. */
export interface ScriptRun {
  readonly workspace: string;
  readonly trace: Trace;
  /** False when the program ended otherwise than in order, or was stopped at the scenario's time-out. */
  readonly success: boolean;
}

/** Runs scripts of a frozen suite. */
export interface ScriptRunner {
  readonly run: (
    scenarioId: string,
    behaviour: Extract<Behaviour, 'solve' | 'noop'>,
    steps: readonly ScriptStep[],
    signal?: AbortSignal,
  ) => Promise<ScriptRun>;
}

/**
 * Runs steps by the very program of the scripted runtime, on a copy of the scenario's workspace: there is no second
 * interpreter that could disagree. Without a harness round it there is no isolation: steps run as the user who
 * probes, in a folder below `root`.
 *
 * @param root an empty temporary folder; the caller removes it
 */
export async function createScriptRunner(layout: SuiteLayout, root: string): Promise<ScriptRunner> {
  const program = join(root, PROGRAM_NAME);
  for (const { name, content } of await scriptedProgram()) await writeFile(join(root, name), content);
  return {
    run: async (scenarioId, behaviour, steps, signal) => {
      const scenario = await readPublicScenario(layout, scenarioId);
      const folder = await mkdtemp(join(root, 'script-'));
      const [workspace, home, session, planFile, turnFile] = [
        'workspace',
        'home',
        'session.jsonl',
        'plan.json',
        'turn.json',
      ].map((name) => join(folder, name)) as [string, string, string, string, string];
      await cp(join(layout.publicDir(scenarioId), 'workspace'), workspace, { recursive: true });
      await mkdir(home);
      const plan: AgentPlan = {
        version: 1,
        sessionId: 'probe',
        trial: 'probe',
        attempt: 1,
        scenarioId,
        behaviour,
        steps,
        workspace,
        session,
        placeholder: PLACEHOLDER,
        model: null,
        config: scriptedConfigSchema.parse({}),
      };
      const turn: AgentTurn = {
        turn: 1,
        message: await readFile(join(layout.publicDir(scenarioId), 'prompt.md'), 'utf8'),
      };
      await writeFile(planFile, JSON.stringify(plan));
      await writeFile(turnFile, JSON.stringify(turn));
      const start = (argv: readonly [string, ...string[]]) =>
        runProgram(argv, { cwd: workspace, home, seconds: scenario.turn ?? 180, signal });
      if (scenario.setupScript !== null && (await start(['/bin/sh', '-c', scenario.setupScript])) !== 0) {
        throw new InfrastructureError('SetupFailed', `the setup script of ${scenarioId} failed`);
      }
      const exitCode = await start([process.execPath, program, planFile, turnFile]);
      if (scenario.teardownScript !== null) await start(['/bin/sh', '-c', scenario.teardownScript]);
      const { events, usage } = await readScriptedSession(session);
      return {
        workspace,
        success: exitCode === 0,
        trace: traceSchema.parse({
          events,
          metrics: { assistant_turns: usage.assistantTurns, tool_calls: usage.toolCalls },
        }),
      };
    },
  };
}

interface ProgramOptions {
  readonly cwd: string;
  readonly home: string;
  /** Wall time after which it is killed. */
  readonly seconds: number;
  readonly signal: AbortSignal | undefined;
}

/** Runs a program to its end and kills what it leaves in its process group. @returns null when it was killed */
async function runProgram(
  argv: readonly [string, ...string[]],
  { cwd, home, seconds, signal }: ProgramOptions,
): Promise<number | null> {
  signal?.throwIfAborted();
  const [file, ...args] = argv;
  const child = spawn(file, args, {
    cwd,
    // Scripts mean the same whatever the user's environment says, and see none of its secrets.
    env: { HOME: home, PATH: process.env['PATH'] ?? '/usr/bin:/bin', LANG: 'C.UTF-8' },
    detached: true,
    stdio: 'ignore',
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => {
      resolve(code);
    });
  });
  const bound = new AbortController();
  const stop = () => {
    if (child.pid !== undefined) killGroup(child.pid);
  };
  void sleep(seconds * 1000, undefined, { signal: bound.signal }).then(stop, () => undefined);
  signal?.addEventListener('abort', stop, { once: true });
  try {
    const code = await ended;
    signal?.throwIfAborted();
    return code;
  } finally {
    bound.abort();
    signal?.removeEventListener('abort', stop);
    stop();
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of them have ended already.
  }
}
