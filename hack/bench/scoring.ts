import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { suiteLayout } from '../../src/api/run-layout.ts';
import { emptyTrace } from '../../src/api/trace.ts';
import { createCheckerHost } from '../../src/scoring/checkers/checker-host.ts';
import { checkerEnvironment } from '../../src/scoring/checkers/environment.ts';
import { findPython } from '../../src/scoring/checkers/python-interpreter.ts';
import { CpuAdmission } from '../../src/scoring/pool/cpu-admission.ts';
import { scoreTrial } from '../../src/scoring/score-trial.ts';
import { freezeSuite } from '../../src/suite/freeze.ts';
import { readHiddenScenario } from '../../src/suite/frozen.ts';
import { loadSuite } from '../../src/suite/load.ts';
import { selectScenarios } from '../../src/suite/select.ts';

/** Where results go: a name, a number, what it is. */
export type BenchReport = (name: string, value: number, unit: string) => void;

const ROUNDS = 3;
/** How many gradings are asked for at once; the host decides how many run. */
const ASKED_AT_ONCE = 16;

/**
 * Scoring throughput with Python checkers, each grading in a process of its own, against the same checkers called
 * one after the other in one plain Python process: the initial workspace and an empty trace of every scenario.
 * Needs a checkout of a suite with Python checkers in CLAWBENCH_BENCH_SUITE.
 */
export const bench = {
  name: 'scoring',
  run: async (report: BenchReport): Promise<void> => {
    const path = process.env['CLAWBENCH_BENCH_SUITE'];
    if (path === undefined) return;
    const temporary = mkdtempSync(join(tmpdir(), 'clawbench-bench-'));
    try {
      await compare(path, temporary, report);
    } finally {
      rmSync(temporary, { recursive: true, force: true });
    }
  },
};

async function compare(path: string, temporary: string, report: BenchReport): Promise<void> {
  const suite = await loadSuite(path, 'scenario');
  const selection = selectScenarios(suite, { status: 'all' });
  const layout = suiteLayout(join(temporary, 'suite'));
  await freezeSuite({ suite, selection, target: layout.root, scripted: false });
  const hidden = await Promise.all(selection.ids.map((id) => readHiddenScenario(layout, id)));
  const scored = hidden.filter(({ checker }) => checker?.language === 'python');
  const workspaceOf = (id: string) => join(layout.publicDir(id), 'workspace');

  const python = await findPython(undefined, process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : null);
  const bundle = scored[0]?.checker?.bundle;
  if (python === undefined || bundle === undefined)
    throw new Error('no Python, or no Python checker in the suite');
  const gradings = scored.map(({ scenario, checker }) => ({
    entry: checker?.entry,
    workspace: workspaceOf(scenario.id),
  }));
  const plan = join(temporary, 'plan.json');
  const program = join(import.meta.dirname, 'plain_checkers.py');
  const plain = (rounds: number): number => {
    writeFileSync(plan, JSON.stringify({ bundle: layout.checkerBundle(bundle), rounds, gradings }));
    const started = performance.now();
    execFileSync(python.path, ['-s', '-B', program, plan], { env: checkerEnvironment(), stdio: 'ignore' });
    return (performance.now() - started) / 1000;
  };

  const isolated = async (cpus: number): Promise<number> => {
    const host = await createCheckerHost({ python: python.path, admission: new CpuAdmission(cpus) });
    try {
      const started = performance.now();
      const jobs = Array.from({ length: ROUNDS }, () => scored)
        .flat()
        .values();
      let failed = 0;
      const work = async () => {
        for (const one of jobs) {
          const workspaceDir = workspaceOf(one.scenario.id);
          const input = {
            hidden: one,
            layout,
            workspaceDir,
            trace: emptyTrace(),
            execution: 'success',
          } as const;
          const { error } = await scoreTrial(input, host);
          if (error !== undefined) failed += 1;
        }
      };
      await Promise.all(Array.from({ length: ASKED_AT_ONCE }, work));
      report('scoring errors', failed / ROUNDS, 'scenarios');
      return (performance.now() - started) / 1000;
    } finally {
      await host.close();
    }
  };

  const trials = scored.length * ROUNDS;
  const plainSeconds = plain(ROUNDS);
  report('plain Python process', trials / plainSeconds, 'trials/s');
  for (const cpus of new Set([Math.max(1, availableParallelism() - 1), availableParallelism()])) {
    const seconds = await isolated(cpus);
    report(`isolated, ${cpus} CPU`, trials / seconds, 'trials/s');
    report(`isolated, ${cpus} CPU, against plain`, plainSeconds / seconds, 'x');
  }
}
