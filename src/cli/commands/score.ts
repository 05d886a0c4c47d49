import { lstat, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Option, type Command } from 'commander';
import { InvalidInputError } from '../../api/errors.ts';
import { suiteLayout } from '../../api/run-layout.ts';
import type { HiddenScenario } from '../../api/scenario.ts';
import { traceSchema, type Trace } from '../../api/trace.ts';
import { readJsonRecord } from '../../files/durable.ts';
import { createCheckerHost } from '../../scoring/checkers/checker-host.ts';
import { WorkerTaskError } from '../../scoring/pool/worker-task-error.ts';
import { scoreTrial, type ScoreTrialResult } from '../../scoring/score-trial.ts';
import { freezeSuite } from '../../suite/freeze.ts';
import { readHiddenScenario } from '../../suite/frozen.ts';
import { loadSuite } from '../../suite/load.ts';
import { selectScenarios } from '../../suite/select.ts';

/** Exit codes. */
const NOT_GRADED = 1;
const INTERRUPTED = 130;

export interface ScoreOptions {
  readonly suite: string;
  readonly scenario: string;
  readonly workspace: string;
  readonly trace: string;
}

/** `clawbench score`: one stored trial, offline, as it would be scored in a run if its execution had succeeded. */
export function registerScoreCommand(program: Command): void {
  program
    .command('score')
    .description('score one stored trial: a workspace as an agent left it, and the trace of what it did')
    .requiredOption('--suite <path>', 'folder of scenario files, or one with scenarios/ and its checkers')
    .requiredOption('--scenario <id>', 'id of the scenario')
    .requiredOption('--workspace <dir>', 'what the agent left; it stays as it is')
    .requiredOption('--trace <file>', 'JSON file {events, metrics, audit_state}')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['json']).default('json'))
    .action(async (options: ScoreOptions) => {
      const interrupt = new AbortController();
      const onInterrupt = () => {
        interrupt.abort();
      };
      process.once('SIGINT', onInterrupt);
      try {
        const { score, error } = await scoreStoredTrial(options, interrupt.signal);
        if (error === undefined) {
          console.log(JSON.stringify(score, null, 2));
        } else {
          console.error(`${error.reason}: ${error.message}`);
          process.exitCode = NOT_GRADED;
        }
      } catch (error) {
        if (!(error instanceof WorkerTaskError) || error.code !== 'cancelled') throw error;
        process.exitCode = INTERRUPTED;
      } finally {
        process.off('SIGINT', onInterrupt);
      }
    });
}

/**
 * @throws InvalidInputError for a wrong suite, scenario, workspace or trace; WorkerTaskError on abort
 */
export async function scoreStoredTrial(
  options: ScoreOptions,
  signal?: AbortSignal,
): Promise<ScoreTrialResult> {
  const trace = await readTrace(options.trace);
  await requireFolder(options.workspace);
  const suite = await loadSuite(options.suite, 'scenario');
  const selection = selectScenarios(suite, { scenarioIds: [options.scenario] });
  const temporary = await mkdtemp(join(tmpdir(), 'clawbench-score-'));
  try {
    const layout = suiteLayout(join(temporary, 'suite'));
    await freezeSuite({ suite, selection, target: layout.root, scripted: false });
    const hidden: HiddenScenario = await readHiddenScenario(layout, options.scenario);
    const host = await createCheckerHost({ maxWorkers: 1 });
    try {
      return await scoreTrial(
        { hidden, layout, workspaceDir: options.workspace, trace, execution: 'success', signal },
        host,
      );
    } finally {
      await host.close();
    }
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function readTrace(path: string): Promise<Trace> {
  const trace = await readJsonRecord(traceSchema, path);
  if (trace !== undefined) return trace;
  throw new InvalidInputError({
    file: path,
    field: '--trace',
    message: 'does not exist',
    remedy: 'Give the JSON file of the trace.',
  });
}

async function requireFolder(path: string): Promise<void> {
  const stat = await lstat(path).catch(() => undefined);
  if (stat?.isDirectory() === true) return;
  throw new InvalidInputError({
    file: path,
    field: '--workspace',
    message: stat === undefined ? 'does not exist' : 'is not a folder',
    remedy: 'Give the folder that the agent worked in.',
  });
}
