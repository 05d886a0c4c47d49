import type { BenchmarkRun, BenchmarkRunSpec } from '../api/benchmark-run.ts';
import { benchmarkRunSpecSchema } from '../api/benchmark-run.ts';
import { runRecordSchema } from '../api/run.ts';
import type { Isolation } from '../api/vocabulary.ts';
import { runFacts } from '../attempt/run-facts.ts';
import { writeJsonDurably } from '../files/durable.ts';
import type { RuntimeAdapter } from '../runtimes/adapter.ts';
import { checkRuntime, checkScenarios, selectForRun } from '../runtimes/preflight.ts';
import { freezeSuite } from '../suite/freeze.ts';
import { builtinSuiteRoot, loadSuite } from '../suite/load.ts';
import type { Selection } from '../suite/select.ts';
import type { LoadedSuite } from '../suite/loaded-suite.ts';
import { estimateRun, type Estimate } from './estimate.ts';
import { executeRun, type Execution } from './execute-run.ts';
import { openLocalHost, type LocalHost } from './executor/local-host.ts';
import { lockRun } from './lock.ts';
import {
  assertFree,
  assertResumable,
  createRun,
  makeRunFolder,
  readExistingRun,
  readRun,
  type OpenRun,
} from './open-run.ts';
import { checkModel, ignoredFields, suiteRootOf } from './preflight.ts';
import type { RunEvent } from './progress.ts';
import { planRerun, type RerunSelection } from './rerun.ts';
import { readRunFile, type RunOverrides } from './run-file.ts';
import { placeFacts } from './run-facts.ts';
import { readTrials, storeTrial } from './trial-store.ts';
import { planTrials } from './trials.ts';

/** What a run needs of the world around it. */
export interface RunWorld {
  /** Ends running attempts in order, with everything collected. */
  readonly signal: AbortSignal;
  readonly onEvent: (event: RunEvent) => void;
  readonly now: () => Date;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Key of the model's provider (CLAWBENCH_API_KEY); null where none is set. */
  readonly apiKey: string | null;
}

interface HostChoice {
  /** Isolation at most; the strongest that works is taken. */
  readonly isolation: Isolation;
  readonly keepWorkspace: boolean;
}

export interface LocalOptions extends RunWorld, HostChoice {
  /** The BenchmarkRun's file. */
  readonly file: string;
  /** Folder of the run; made only after everything was found valid. */
  readonly root: string;
  readonly suitePath: string | undefined;
  readonly overrides: RunOverrides;
  readonly dryRun: boolean;
}

export interface RerunOptions extends RunWorld, HostChoice {
  readonly root: string;
  readonly selection: RerunSelection;
}

export interface FinishedRun extends Execution {
  readonly kind: 'run';
}

export type LocalOutcome = FinishedRun | { readonly kind: 'estimate'; readonly estimate: Estimate };

/**
 * Runs a BenchmarkRun on this machine, or goes on with it where it stopped.
 *
 * @throws InvalidInputError when the file, the suite or the folder cannot be used; nothing is written then
 */
export async function runLocal(options: LocalOptions): Promise<LocalOutcome> {
  const run = await readRunFile(options.file, options.overrides);
  checkModel(run.spec, options.apiKey, options.file);
  const stored = await readRun(options.root);
  if (stored !== undefined) {
    assertResumable(stored, run);
    if (options.dryRun) return { kind: 'estimate', estimate: estimateRun(run.spec, stored.index.scenarios) };
    return await inRunFolder(options.root, () => resume(stored, run.spec, options));
  }

  const { adapter, runtime } = checkRuntime(run.spec, options.file);
  const suiteRoot = suiteRootOf(run.spec, options.suitePath, options.file);
  const suite = await loadSuite(suiteRoot, run.spec.suite.format);
  const selection = selectForRun(run.spec, suite);
  await checkScenarios(runtime, suite, selection);
  await assertFree(options.root);
  if (options.dryRun) {
    const declared = selection.scenarios.map(({ scenario }) => ({
      turn: scenario.timeout_seconds,
      total: null,
    }));
    return { kind: 'estimate', estimate: estimateRun(run.spec, declared) };
  }
  return await start(run, adapter, suite, selection, options);
}

/**
 * Opens ended failures of the given classes again and runs them.
 *
 * @throws InvalidInputError when `root` holds no run or nothing matches
 */
export async function rerunLocal(options: RerunOptions): Promise<FinishedRun> {
  const { record, layout } = await readExistingRun(options.root);
  checkModel(benchmarkRunSpecSchema.parse(record.spec), options.apiKey, layout.runJson);
  return await inRunFolder(options.root, async () => {
    const stored = await readExistingRun(options.root);
    const trials = await readTrials(stored.layout);
    const plan = planRerun(stored.record, [...trials.values()], options.selection, options.now());
    // The run's record goes first: a rerun that is cut off here has only opened fewer trials.
    await writeJsonDurably(stored.layout.runJson, runRecordSchema.parse(plan.record), 0o600);
    for (const trial of plan.reopened) await storeTrial(stored.layout, trial);
    return await resume({ ...stored, record: plan.record }, specOf(stored), options);
  });
}

async function start(
  run: BenchmarkRun,
  adapter: RuntimeAdapter,
  suite: LoadedSuite,
  selection: Selection,
  options: LocalOptions,
): Promise<FinishedRun> {
  const { root } = options;
  await makeRunFolder(root);
  return await inRunFolder(root, async () => {
    // Another invocation may have begun this very run between our first look and the lock.
    const begun = await readRun(root);
    if (begun !== undefined) {
      assertResumable(begun, run);
      return await resume(begun, run.spec, options);
    }
    return await onHost(root, suite.root, options, async (host) => {
      for (const field of ignoredFields(run.spec)) {
        options.onEvent({ kind: 'note', text: `${field} has no meaning on one machine and is ignored` });
      }
      const created = await createRun(root, {
        run,
        facts: runFacts(run.spec, adapter, selection, placeFacts(run.spec, host, suite.root)),
        freeze: (layout) =>
          freezeSuite({ suite, selection, target: layout.suite.root, scripted: adapter.id === 'scripted' }),
        now: options.now,
      });
      return await execute(created, run.spec, adapter, host, options);
    });
  });
}

async function resume(
  stored: OpenRun,
  spec: BenchmarkRunSpec,
  options: RunWorld & HostChoice,
): Promise<FinishedRun> {
  const { adapter } = checkRuntime(spec, stored.layout.runJson);
  const { suiteRoot } = stored.record.facts;
  return await onHost(stored.layout.root, suiteRoot, options, (host) =>
    execute(stored, spec, adapter, host, options),
  );
}

async function execute(
  run: OpenRun,
  spec: BenchmarkRunSpec,
  adapter: RuntimeAdapter,
  host: LocalHost,
  options: RunWorld,
): Promise<FinishedRun> {
  const stored = await readTrials(run.layout);
  const planned = planTrials(run, spec, adapter.surfaces, stored);
  const { signal, onEvent, now, random, apiKey } = options;
  const execution = await executeRun(run, planned, stored, {
    spec,
    adapter,
    host,
    signal,
    onEvent,
    now,
    random,
    apiKey,
  });
  return { kind: 'run', ...execution };
}

async function inRunFolder<Result>(root: string, work: () => Promise<Result>): Promise<Result> {
  const lock = await lockRun(root);
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

/**
 * Opens this machine for agents that can look neither into the run's folder nor to where answers lie: the suite's
 * own folder, and the built-in one beside this program.
 */
async function onHost<Result>(
  root: string,
  suiteRoot: string | undefined,
  options: HostChoice & RunWorld,
  work: (host: LocalHost) => Promise<Result>,
): Promise<Result> {
  const { isolation, keepWorkspace: keep } = options;
  const hide = new Set([root, builtinSuiteRoot(), ...(suiteRoot === undefined ? [] : [suiteRoot])]);
  const host = await openLocalHost({ hide: [...hide], isolation, keep });
  try {
    for (const path of host.exposed) {
      options.onEvent({
        kind: 'note',
        text: `agents could look into ${path}: isolation here is ${host.choice.isolation}`,
      });
    }
    return await work(host);
  } finally {
    await host.close();
  }
}

function specOf(run: OpenRun): BenchmarkRunSpec {
  return benchmarkRunSpecSchema.parse(run.record.spec);
}
