import { join } from 'node:path';
import type { SuiteLayout } from '../api/run-layout.ts';
import type { HiddenScenario } from '../api/scenario.ts';
import type { ScoringError, TrialScore } from '../api/score.ts';
import type { Trace } from '../api/trace.ts';
import type { ExecutionStatus } from '../api/vocabulary.ts';
import type { CheckerHost } from './checkers/checker-host.ts';
import type { CheckerLimits } from './checkers/types.ts';
import type { CustomGrade } from './custom-grade.ts';
import { directoryWorkspace } from './directory-workspace.ts';
import { gradeTrial } from './grade-trial.ts';

export interface ScoreTrialInput {
  readonly hidden: HiddenScenario;
  /** Frozen suite that `hidden` was read from. */
  readonly layout: SuiteLayout;
  /** What the agent left; it is only read. */
  readonly workspaceDir: string;
  /** As recorded. */
  readonly trace: Trace;
  readonly execution: ExecutionStatus;
  /** Limits of a custom checker; the defaults where absent. */
  readonly limits?: Partial<CheckerLimits>;
  readonly signal?: AbortSignal | undefined;
}

/** A trial has a score, or a reason why it could not be graded: never a zero in place of one. */
export type ScoreTrialResult =
  | { readonly score: TrialScore; readonly error?: never }
  | { readonly error: ScoringError; readonly score?: never };

/**
 * Grades one stored trial: runs its checker where it has one, then applies the formula.
 *
 * @throws WorkerTaskError when the host is overloaded or closed, or on abort; system errors of reading the workspace
 */
export async function scoreTrial(input: ScoreTrialInput, host: CheckerHost): Promise<ScoreTrialResult> {
  const { scenario } = input.hidden;
  let custom: CustomGrade | null = null;
  if (input.hidden.checker !== null) {
    const outcome = await host.grade(
      {
        checker: input.hidden.checker,
        bundleDir: input.layout.checkerBundle(input.hidden.checker.bundle),
        workspaceDir: input.workspaceDir,
        hiddenFilesDir: join(input.layout.hiddenDir(scenario.id), 'files'),
        trace: input.trace,
        ...(input.limits === undefined ? {} : { limits: input.limits }),
      },
      input.signal,
    );
    if (!outcome.ok) return { error: outcome.error };
    custom = outcome.grade;
  }
  const score = await gradeTrial({
    scenario,
    trace: input.trace,
    execution: input.execution,
    workspace: directoryWorkspace(input.workspaceDir),
    custom,
  });
  return { score };
}
