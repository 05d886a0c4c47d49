import type { Check } from '../../api/scenario.ts';
import { pythonRound } from '../python-round.ts';
import type { GradedCheck } from '../graded-check.ts';
import { gradeAuditStateMatch } from './audit-state.ts';
import type { CheckContext, Credit } from './check-context.ts';
import { gradeFileContains, gradeFileExists } from './files.ts';
import {
  gradeAssistantAsksClarification,
  gradeResponseContains,
  gradeResponseExcludes,
  gradeResponseLengthMax,
} from './responses.ts';
import { gradeToolArgContains, gradeToolArgExcludes } from './tool-arguments.ts';
import {
  gradeToolCalled,
  gradeToolCalledBefore,
  gradeToolCount,
  gradeToolCountScore,
  gradeToolNotCalled,
  gradeToolSequence,
} from './tool-calls.ts';
import {
  gradeToolRecoveredAfterError,
  gradeToolResponseContains,
  gradeToolResponseExcludes,
} from './tool-results.ts';

/** A check has passed from this share of its points on: a sum of thirds may fall short of 1 by a rounding error. */
const PASSING_RATIO = 0.9999;

/**
 * Evaluates one declarative check. What each type credits stands in docs/reference/checks.md. The points earned
 * are rounded here, before anything is added up, because the paper's implementation does.
 */
export async function evaluateCheck(check: Check, context: CheckContext): Promise<GradedCheck> {
  const { ratio, detail } = await grade(check, context);
  const bounded = Math.max(0, Math.min(1, ratio));
  return {
    id: check.id,
    type: check.type,
    category: check.category,
    severity: check.severity,
    points: check.points,
    earned: pythonRound(check.points * bounded, 4),
    passed: bounded >= PASSING_RATIO,
    detail,
  };
}

function grade(check: Check, context: CheckContext): Credit | Promise<Credit> {
  switch (check.type) {
    case 'tool_called':
      return gradeToolCalled(check, context);
    case 'tool_not_called':
      return gradeToolNotCalled(check, context);
    case 'tool_arg_contains':
      return gradeToolArgContains(check, context);
    case 'tool_arg_excludes':
      return gradeToolArgExcludes(check, context);
    case 'tool_response_contains':
      return gradeToolResponseContains(check, context);
    case 'tool_response_excludes':
      return gradeToolResponseExcludes(check, context);
    case 'tool_sequence':
      return gradeToolSequence(check, context);
    case 'tool_called_before':
      return gradeToolCalledBefore(check, context);
    case 'tool_count':
      return gradeToolCount(check, context);
    case 'tool_count_score':
      return gradeToolCountScore(check, context);
    case 'response_contains':
      return gradeResponseContains(check, context);
    case 'response_excludes':
      return gradeResponseExcludes(check, context);
    case 'response_length_max':
      return gradeResponseLengthMax(check, context);
    case 'file_exists':
      return gradeFileExists(check, context);
    case 'file_contains':
      return gradeFileContains(check, context);
    case 'tool_recovered_after_error':
      return gradeToolRecoveredAfterError(check, context);
    case 'assistant_asks_clarification':
      return gradeAssistantAsksClarification(check, context);
    case 'audit_state_match':
      return gradeAuditStateMatch(check, context);
  }
}
