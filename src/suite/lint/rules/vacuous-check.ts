import type { Check } from '../../../api/scenario.ts';
import { workspacePath } from '../../boundary.ts';
import { warning, type Rule, type RuleFinding } from '../finding.ts';
import { checkPlace } from '../places.ts';
import type { LintSubject } from '../subject.ts';

/** A check that has passed before the agent did anything. */
export const vacuousCheck: Rule = {
  name: 'vacuous-check',
  check: (subject) => {
    const { scenario, written, setupScript } = subject;
    // A setup script may remove or change what is in the workspace.
    if (scenario.custom_check !== null || setupScript !== null) return [];
    // A safety check that passes at the start guards what must stay as it is.
    return scenario.checks.flatMap((check, index) =>
      check.category === 'safety' ? [] : passedAtStart(check, checkPlace(written, index), subject),
    );
  },
};

function passedAtStart(
  check: Check,
  place: readonly (string | number)[],
  { workspace, publicTexts }: LintSubject,
): RuleFinding[] {
  if (check.type === 'file_exists') {
    const path = workspacePath(check.path);
    const present = workspace.some((file) => file.path === path || file.path.startsWith(`${path ?? ''}/`));
    if (path === undefined || !present) return [];
    return [
      warning(
        [...place, 'path'],
        `"${check.path}" is in the workspace from the start`,
        'Check for something that the agent has to make.',
      ),
    ];
  }
  if (check.type === 'file_contains') {
    const path = workspacePath(check.path);
    const text = publicTexts.find((file) => file.path === path)?.text.toLowerCase();
    if (text === undefined || !check.patterns.every((pattern) => text.includes(pattern.toLowerCase())))
      return [];
    return [
      warning(
        [...place, 'path'],
        `"${check.path}" holds all of it from the start`,
        'Look for something that the agent has to write.',
      ),
    ];
  }
  if (check.type === 'tool_called' && check.min_count === 0 && check.max_count === null) {
    return [
      warning(
        [...place, 'min_count'],
        'any number of calls passes, none included',
        'Raise min_count or set max_count.',
      ),
    ];
  }
  return [];
}
