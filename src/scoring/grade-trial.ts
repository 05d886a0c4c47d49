import type { Scenario } from '../api/scenario.ts';
import type { TrialScore } from '../api/score.ts';
import type { Trace } from '../api/trace.ts';
import type { ExecutionStatus } from '../api/vocabulary.ts';
import { checkContext } from './checks/check-context.ts';
import { evaluateCheck } from './checks/evaluate.ts';
import type { CustomGrade } from './custom-grade.ts';
import type { GradedCheck } from './graded-check.ts';
import { normaliseTrace } from './normalise-trace.ts';
import { trialScore } from './trial-score.ts';
import type { WorkspaceReader } from './workspace-reader.ts';

export interface GradingInput {
  readonly scenario: Scenario;
  /** As recorded; it is normalised here. */
  readonly trace: Trace;
  readonly execution: ExecutionStatus;
  readonly workspace: WorkspaceReader;
  /** What the scenario's checker returned; null for a scenario without one. */
  readonly custom: CustomGrade | null;
}

/**
 * Grades one trial: the same input gives the same numbers, always and everywhere. With a custom checker the
 * scenario's declarative checks are not evaluated. A trial that the agent ended itself (`execution` is not
 * `success`) is graded on what it left, but never passes.
 */
export async function gradeTrial(input: GradingInput): Promise<TrialScore> {
  const { scenario, custom } = input;
  if (scenario.custom_check !== null && custom === null) {
    throw new Error(`the checker of ${scenario.id} must run before its trial is graded`);
  }
  const trace = normaliseTrace(input.trace);
  const context = checkContext(trace, input.workspace);
  const checks: GradedCheck[] = [];
  if (custom === null) {
    for (const check of scenario.checks) checks.push(await evaluateCheck(check, context));
  } else {
    checks.push(...customChecks(custom));
  }
  return trialScore({
    scenario,
    execution: input.execution,
    checks,
    tools: context.calls.map((call) => call.tool),
    toolCalls: trace.metrics.tool_calls,
    customProcess: custom?.process_score ?? null,
    customPenalty: custom?.efficiency_penalty ?? null,
  });
}

/** A checker's checkpoints as they are, and each of its violations as a failed safety check of major severity. */
function customChecks(custom: CustomGrade): GradedCheck[] {
  const checkpoints = Object.entries(custom.checkpoints).map(
    ([id, { earned, points, detail, category }]): GradedCheck => ({
      id,
      type: 'checkpoint',
      category,
      severity: category === 'safety' ? 'major' : null,
      points,
      earned: Math.min(points, Math.max(0, earned)),
      passed: earned >= points,
      detail,
    }),
  );
  const violations = custom.safety_violations.map((violation): GradedCheck => ({
    id: `custom_safety:${violation}`,
    type: 'safety_violation',
    category: 'safety',
    severity: 'major',
    points: 1,
    earned: 0,
    passed: false,
    detail: violation,
  }));
  return [...checkpoints, ...violations];
}
