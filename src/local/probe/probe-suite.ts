import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';

import { suiteLayout, type SuiteLayout } from '../../api/run-layout.ts';
import type { HiddenScenario, ScriptStep } from '../../api/scenario.ts';
import type { TrialScore } from '../../api/score.ts';
import { readScriptOf } from '../../runtimes/scripted/script.ts';
import { createCheckerHost, type CheckerHost } from '../../scoring/checkers/checker-host.ts';
import { scoreTrial, type ScoreTrialResult } from '../../scoring/score-trial.ts';
import { freezeSuite } from '../../suite/freeze.ts';
import { readHiddenScenario } from '../../suite/frozen.ts';
import type { LoadedSuite } from '../../suite/loaded-suite.ts';
import type { Selection } from '../../suite/select.ts';
import { readTree } from '../../suite/tree.ts';
import {
  judgeMutant,
  judgeStandard,
  judgeUnsafe,
  judgeWorthless,
  judgeWrong,
  uncoveredChecks,
  type Claim,
  type Finding,
} from './claims.ts';
import { MUTANTS_FILE, mutate, readMutants } from './mutants.ts';
import { rubbishAnswer } from './rubbish.ts';
import { createScriptRunner, type ScriptRun, type ScriptRunner } from './run-steps.ts';

/** What was found of one scenario. */
export interface ScenarioProbe {
  readonly id: string;
  readonly checks: number;
  readonly mutants: number;
  readonly holds: boolean;
  readonly findings: readonly Finding[];
}

export interface ProbeOptions {
  /** Scenarios probed at once; as many as the machine computes at once when absent. */
  readonly parallelism?: number;
  readonly signal?: AbortSignal;
  /** Told each scenario when it is done, in the order of finishing. */
  readonly onProbed?: (probe: ScenarioProbe) => void;
}

/**
 * Tries whether scenarios measure what they claim to: what the standard answer, doing nothing, the right tools with
 * rubbish, a wrong and an unsafe answer and the mutants of the standard answer score (docs/reference/probe.md).
 * Scripts of the suite are executed as the user who calls, in a temporary folder.
 *
 * @returns a probe for each selected scenario, in their order
 * @throws InvalidInputError for a suite that cannot be frozen, a wrong script or a wrong file of mutants
 */
export async function probeSuite(
  suite: LoadedSuite,
  selection: Selection,
  options: ProbeOptions = {},
): Promise<readonly ScenarioProbe[]> {
  const temporary = await mkdtemp(join(tmpdir(), 'clawbench-probe-'));
  const host = await createCheckerHost();
  try {
    const layout = suiteLayout(join(temporary, 'suite'));
    await freezeSuite({ suite, selection, target: layout.root, scripted: true });
    const runner = await createScriptRunner(layout, temporary);
    const probes = new Map<string, ScenarioProbe>();
    const waiting = [...selection.ids];
    const worker = async () => {
      for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
        const probe = await new ScenarioProber(layout, runner, host, id, options.signal).probe();
        probes.set(id, probe);
        options.onProbed?.(probe);
      }
    };
    const workers = Math.min(options.parallelism ?? availableParallelism(), waiting.length);
    await Promise.all(Array.from({ length: workers }, worker));
    return selection.ids.flatMap((id) => probes.get(id) ?? []);
  } finally {
    await host.close();
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Probes one scenario of a frozen suite, one script after the other. */
class ScenarioProber {
  readonly #layout: SuiteLayout;
  readonly #runner: ScriptRunner;
  readonly #host: CheckerHost;
  readonly #id: string;
  readonly #signal: AbortSignal | undefined;
  readonly #findings: Finding[] = [];

  constructor(
    layout: SuiteLayout,
    runner: ScriptRunner,
    host: CheckerHost,
    id: string,
    signal: AbortSignal | undefined,
  ) {
    this.#layout = layout;
    this.#runner = runner;
    this.#host = host;
    this.#id = id;
    this.#signal = signal;
  }

  async probe(): Promise<ScenarioProbe> {
    const hidden = await readHiddenScenario(this.#layout, this.#id);
    const scripts = this.#layout.scriptedDir(this.#id);
    const [solve, wrong, unsafe] = await Promise.all(
      (['solve', 'wrong', 'unsafe'] as const).map((behaviour) => readScriptOf(scripts, behaviour)),
    );
    const mutants = await this.#mutants();
    let checks = 0;
    await this.#try(hidden, 'noop', { behaviour: 'noop', steps: [] }, judgeWorthless);
    if (solve === undefined) {
      this.#note('standard', 'there is no scripted/solve.yaml');
    } else {
      const run = await this.#run('solve', solve);
      const standard = await this.#judge(hidden, 'standard', null, run, judgeStandard);
      const outputs = await this.#changedFiles(run);
      await this.#try(hidden, 'rubbish', { steps: rubbishAnswer(solve, outputs) }, judgeWorthless);
      for (const mutant of mutants) {
        await this.#try(hidden, 'mutant', { steps: mutate(solve, mutant), subject: mutant.fails }, (score) =>
          judgeMutant(score, mutant.fails),
        );
      }
      if (standard !== undefined) {
        checks = standard.checks.length;
        for (const id of uncoveredChecks(standard, mutants)) {
          this.#note('mutant', `no mutant in hidden_dir/${MUTANTS_FILE} is meant for it`, id);
        }
      }
    }
    if (wrong === undefined) this.#note('wrong', 'there is no scripted/wrong.yaml');
    else await this.#try(hidden, 'wrong', { steps: wrong }, judgeWrong);
    if (unsafe === undefined) this.#note('unsafe', 'there is no scripted/unsafe.yaml');
    else await this.#try(hidden, 'unsafe', { steps: unsafe }, judgeUnsafe);
    return {
      id: this.#id,
      checks,
      mutants: mutants.length,
      holds: this.#findings.every((finding) => finding.holds),
      findings: this.#findings,
    };
  }

  async #mutants() {
    const file = join(this.#layout.hiddenDir(this.#id), 'files', MUTANTS_FILE);
    return await readMutants(file, `hidden_dir of ${this.#id}: ${MUTANTS_FILE}`);
  }

  async #try(
    hidden: HiddenScenario,
    claim: Claim,
    script: {
      readonly steps: readonly ScriptStep[];
      readonly behaviour?: 'noop';
      readonly subject?: string;
    },
    judge: (score: TrialScore) => Pick<Finding, 'holds' | 'detail'>,
  ): Promise<void> {
    const run = await this.#run(script.behaviour ?? 'solve', script.steps);
    await this.#judge(hidden, claim, script.subject ?? null, run, judge);
    // A suite of many mutants would otherwise hold as many copies of its workspaces.
    await rm(run.workspace, { recursive: true, force: true });
  }

  async #run(behaviour: 'solve' | 'noop', steps: readonly ScriptStep[]): Promise<ScriptRun> {
    return await this.#runner.run(this.#id, behaviour, steps, this.#signal);
  }

  async #judge(
    hidden: HiddenScenario,
    claim: Claim,
    subject: string | null,
    run: ScriptRun,
    judge: (score: TrialScore) => Pick<Finding, 'holds' | 'detail'>,
  ): Promise<TrialScore | undefined> {
    const { score, error } = await this.#score(hidden, run);
    if (error !== undefined) {
      this.#note(claim, `cannot be graded: ${error.reason}: ${error.message}`, subject);
      return undefined;
    }
    this.#findings.push({ claim, subject, score: score.score, ...judge(score) });
    return score;
  }

  async #score(hidden: HiddenScenario, run: ScriptRun): Promise<ScoreTrialResult> {
    return await scoreTrial(
      {
        hidden,
        layout: this.#layout,
        workspaceDir: run.workspace,
        trace: run.trace,
        execution: run.success ? 'success' : 'error',
        signal: this.#signal,
      },
      this.#host,
    );
  }

  /** Files of the workspace that a run made or changed. */
  async #changedFiles(run: ScriptRun): Promise<readonly string[]> {
    const [before, after] = await Promise.all([
      readTree(join(this.#layout.publicDir(this.#id), 'workspace')),
      readTree(run.workspace),
    ]);
    const known = new Map(before.files.map(({ path, sha256 }) => [path, sha256]));
    return after.files.filter(({ path, sha256 }) => known.get(path) !== sha256).map(({ path }) => path);
  }

  #note(claim: Claim, detail: string, subject: string | null = null): void {
    this.#findings.push({ claim, subject, holds: false, score: null, detail });
  }
}
