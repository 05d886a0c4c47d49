import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runtimeSpecSchema } from '../../src/api/benchmark-run.ts';
import { suiteLayout } from '../../src/api/run-layout.ts';
import { resolveTimeouts, timeoutsSpecSchema } from '../../src/api/timeouts.ts';
import type { PublicScenario } from '../../src/api/suite-index.ts';
import { runAttempt } from '../../src/attempt/run-attempt.ts';
import { launchLocalExecutor } from '../../src/local/executor/local-executor.ts';
import { openLocalHost, type LocalHost } from '../../src/local/executor/local-host.ts';
import { agentLimits } from '../../src/attempt/agent-limits.ts';
import type { AttemptContext } from '../../src/runtimes/adapter.ts';
import { scriptedAdapter } from '../../src/runtimes/scripted/adapter.ts';
import { freezeSuite } from '../../src/suite/freeze.ts';
import { readPublicScenario } from '../../src/suite/frozen.ts';
import { builtinSuiteRoot, loadSuite } from '../../src/suite/load.ts';
import { selectScenarios } from '../../src/suite/select.ts';
import { median } from './median.ts';

/** What an attempt costs over spawning its agent bare; medians, in seconds. */
export interface AttemptBench {
  readonly isolation: string;
  readonly attempts: number;
  /** Spawn to exit of the agent alone. */
  readonly bareSeconds: number;
  /** Launch of the executor to its removal, settling left out. */
  readonly attemptSeconds: number;
}

/** Aim: seconds an attempt may cost beyond the bare agent and settling. */
export const ATTEMPT_OVERHEAD_AIM = 0.4;

const SCENARIO = 'access-log-report';

/**
 * Runs attempts of the scripted runtime and bare spawns of the same agent with the same script, in turns, one at
 * a time, on the same machine.
 */
export async function benchAttempt(attempts = 10): Promise<AttemptBench> {
  const root = await mkdtemp(join(tmpdir(), 'clawbench-bench-attempt-'));
  const layout = suiteLayout(join(root, 'suite'));
  const suite = await loadSuite(builtinSuiteRoot());
  const selection = selectScenarios(suite, { scenarioIds: [SCENARIO] });
  await freezeSuite({ suite, selection, target: layout.root, scripted: true });
  const scenario = await readPublicScenario(layout, SCENARIO);
  const host = await openLocalHost({ hide: [root] });
  try {
    const bare: number[] = [];
    const whole: number[] = [];
    for (let i = 1; i <= attempts; i += 1) {
      bare.push(
        await timed(() => spawnBare(join(root, `bare-${i}`), scenario, layout.scriptedDir(SCENARIO), host)),
      );
      whole.push(await timed(() => runWhole(join(root, `attempt-${i}`), i, scenario, layout, host)));
    }
    return {
      isolation: host.choice.isolation,
      attempts,
      bareSeconds: median(bare),
      attemptSeconds: median(whole),
    };
  } finally {
    await host.close();
    await rm(root, { recursive: true, force: true });
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}

const RUNTIME = runtimeSpecSchema.parse({ id: 'scripted' });

async function spawnBare(
  folder: string,
  scenario: PublicScenario,
  scriptedDir: string,
  host: LocalHost,
): Promise<void> {
  const paths = {
    workspace: join(folder, 'workspace'),
    state: join(folder, 'state'),
    home: join(folder, 'home'),
    program: join(folder, 'program'),
    node: host.program.node,
  };
  for (const path of [paths.workspace, paths.state, paths.home, paths.program])
    await mkdir(path, { recursive: true });
  const context: AttemptContext = {
    trial: 'bare',
    attempt: 1,
    scenario,
    runtime: RUNTIME,
    paths,
    modelEndpoint: null,
    modelId: null,
    scriptedDir,
  };
  const command = scriptedAdapter.turn(context, { turn: 1, message: 'go', timeoutSeconds: 60 });
  for (const file of [...(await scriptedAdapter.prepare(context)), ...command.files]) {
    await mkdir(dirname(file.path), { recursive: true });
    await writeFile(file.path, file.content);
  }
  const [program, ...args] = command.argv;
  const child = spawn(program, args, {
    cwd: command.cwd,
    env: { PATH: process.env['PATH'], ...command.env },
    stdio: 'ignore',
  });
  await once(child, 'exit');
}

async function runWhole(
  attemptDir: string,
  attempt: number,
  scenario: PublicScenario,
  layout: ReturnType<typeof suiteLayout>,
  host: LocalHost,
): Promise<void> {
  const limits = agentLimits({ runtime: RUNTIME });
  const executor = await launchLocalExecutor(host, { trial: 'bench', attempt, limits });
  const result = await runAttempt(
    {
      trial: 'bench',
      attempt,
      podUID: `bench-${attempt}`,
      scenario,
      publicDir: layout.publicDir(scenario.id),
      attemptDir,
      adapter: scriptedAdapter,
      runtime: RUNTIME,
      modelEndpoint: null,
      modelId: null,
      scriptedDir: layout.scriptedDir(scenario.id),
      timeouts: resolveTimeouts(timeoutsSpecSchema.parse({ settle: 0 }), {}).timeouts,
      versions: { operator: 'bench', runtime: 'bench' },
    },
    executor,
  );
  await executor.dispose();
  if (result.exitCode !== 0) throw new Error(`the attempt ended with ${JSON.stringify(result.observations)}`);
}
