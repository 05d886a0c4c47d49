import { join } from 'node:path';
import { suiteLayout } from '../../src/api/run-layout.ts';
import type { Scenario } from '../../src/api/scenario.ts';
import type { TrialScore } from '../../src/api/score.ts';
import { traceSchema } from '../../src/api/trace.ts';
import type { ExecutionStatus } from '../../src/api/vocabulary.ts';
import { createCheckerHost } from '../../src/scoring/checkers/checker-host.ts';
import { scoreTrial } from '../../src/scoring/score-trial.ts';
import { freezeSuite } from '../../src/suite/freeze.ts';
import { readHiddenScenario } from '../../src/suite/frozen.ts';
import { loadSuite } from '../../src/suite/load.ts';
import { selectScenarios } from '../../src/suite/select.ts';

/** The way of a score in a run: load, freeze, check in a process of its own, grade. */
export interface OurScorer {
  readonly scenarios: readonly Scenario[];
  /** Folder of a scenario's initial workspace. */
  initialWorkspace(scenario: string): string;
  score(
    scenario: string,
    workspace: string,
    trace: unknown,
    execution: ExecutionStatus,
  ): Promise<TrialScore | { readonly error: string }>;
  close(): Promise<void>;
}

/**
 * @param suitePath checkout of the public benchmark, or a folder of scenario files
 * @param work folder for the frozen suite
 */
export async function startOurScorer(suitePath: string, python: string, work: string): Promise<OurScorer> {
  const suite = await loadSuite(suitePath, 'scenario');
  const selection = selectScenarios(suite, { status: 'all' });
  const layout = suiteLayout(join(work, 'frozen'));
  await freezeSuite({ suite, selection, target: layout.root, scripted: false });
  const host = await createCheckerHost({ python });
  return {
    scenarios: selection.scenarios.flatMap((loaded) => ('scenario' in loaded ? [loaded.scenario] : [])),
    initialWorkspace: (scenario) => join(layout.publicDir(scenario), 'workspace'),
    score: async (scenario, workspaceDir, trace, execution) => {
      const hidden = await readHiddenScenario(layout, scenario);
      const { score, error } = await scoreTrial(
        { hidden, layout, workspaceDir, trace: traceSchema.parse(trace), execution },
        host,
      );
      return error === undefined ? score : { error: `${error.reason}: ${error.message}` };
    },
    close: () => host.close(),
  };
}
