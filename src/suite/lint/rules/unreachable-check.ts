import type { Check } from '../../../api/scenario.ts';
import { workspacePath } from '../../boundary.ts';
import { error, warning, type Rule, type RuleFinding } from '../finding.ts';
import { checkPlace } from '../places.ts';

/** A check that is never evaluated, can never pass, or adds nothing. */
export const unreachableCheck: Rule = {
  name: 'unreachable-check',
  check: ({ scenario, written }) => {
    const { checks, custom_check, tools } = scenario;
    if (custom_check !== null && checks.length > 0) {
      return [
        error(
          checkPlace(written).slice(0, 1),
          'with a custom_check the checks are never evaluated',
          'Move them into the checker, or remove custom_check.',
        ),
      ];
    }
    const declared = new Set(tools);
    const seen = new Map<string, string>();
    return checks.flatMap((check, index) => {
      const place = checkPlace(written, index);
      const findings: RuleFinding[] = impossible(check).map(({ field, message, remedy }) =>
        error([...place, field], message, remedy),
      );
      if (check.points === 0 && check.category !== 'safety') {
        findings.push(
          warning([...place, 'points'], 'is worth no points', 'Give it points, or category safety.'),
        );
      }
      for (const { field, tool } of neededTools(check)) {
        if (declared.size > 0 && !declared.has(tool)) {
          findings.push(
            warning(
              [...place, field],
              `waits for the tool "${tool}", which tools does not list`,
              'Add it to tools, or correct the name.',
            ),
          );
        }
      }
      const { id, points, description, severity, ...same } = check;
      const key = JSON.stringify(same);
      const earlier = seen.get(key);
      if (earlier === undefined) seen.set(key, id);
      else
        findings.push(warning([...place, 'id'], `looks for the same as check "${earlier}"`, 'Remove one.'));
      return findings;
    });
  },
};

interface Impossibility {
  readonly field: string;
  readonly message: string;
  readonly remedy: string;
}

function impossible(check: Check): Impossibility[] {
  switch (check.type) {
    case 'tool_called':
    case 'tool_count':
      return check.max_count !== null && check.min_count > check.max_count
        ? [
            {
              field: 'min_count',
              message: `wants at least ${check.min_count} and at most ${check.max_count} calls`,
              remedy: 'Lower min_count or raise max_count.',
            },
          ]
        : [];
    case 'tool_called_before':
      return check.first === check.second
        ? [{ field: 'second', message: 'is the same tool as first', remedy: 'Name two tools.' }]
        : [];
    case 'tool_sequence':
      return check.tools.length === 0
        ? [{ field: 'tools', message: 'is empty, which never passes', remedy: 'Name the tools in order.' }]
        : [];
    case 'file_exists':
    case 'file_contains':
      return workspacePath(check.path) === undefined ||
        check.path.split('/').some((part) => Buffer.byteLength(part) > 255)
        ? [
            {
              field: 'path',
              message: `"${check.path}" cannot be a file in the workspace`,
              remedy: 'Write a path relative to the workspace.',
            },
          ]
        : [];
    case 'tool_not_called':
    case 'tool_arg_contains':
    case 'tool_arg_excludes':
    case 'tool_response_contains':
    case 'tool_response_excludes':
    case 'tool_count_score':
    case 'response_contains':
    case 'response_excludes':
    case 'response_length_max':
    case 'tool_recovered_after_error':
    case 'assistant_asks_clarification':
    case 'audit_state_match':
      return [];
  }
}

/** Tools without whose calls the check cannot pass. */
export function neededTools(check: Check): { readonly field: string; readonly tool: string }[] {
  switch (check.type) {
    case 'tool_called':
    case 'tool_count':
      return check.min_count > 0 ? [{ field: 'tool', tool: check.tool }] : [];
    case 'tool_count_score':
      return check.target_count > check.tolerance ? [{ field: 'tool', tool: check.tool }] : [];
    case 'tool_arg_contains':
    case 'tool_response_contains':
    case 'tool_recovered_after_error':
      return [{ field: 'tool', tool: check.tool }];
    case 'tool_sequence':
      return check.tools.map((tool) => ({ field: 'tools', tool }));
    case 'tool_called_before':
      return [
        { field: 'first', tool: check.first },
        { field: 'second', tool: check.second },
      ];
    case 'tool_not_called':
    case 'tool_arg_excludes':
    case 'tool_response_excludes':
    case 'response_contains':
    case 'response_excludes':
    case 'response_length_max':
    case 'file_exists':
    case 'file_contains':
    case 'assistant_asks_clarification':
    case 'audit_state_match':
      return [];
  }
}
