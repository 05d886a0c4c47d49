import { error, type Rule, type RuleFinding } from '../finding.ts';
import { checkPlace } from '../places.ts';
import { neededTools } from './unreachable-check.ts';

/** Two checks that cannot pass together. */
export const contradiction: Rule = {
  name: 'contradiction',
  check: ({ scenario, written }) => {
    if (scenario.custom_check !== null) return [];
    const findings: RuleFinding[] = [];
    const { checks } = scenario;
    checks.forEach((check, index) => {
      const place = checkPlace(written, index);
      if (check.type === 'tool_not_called') {
        const other = checks.find((one) => neededTools(one).some(({ tool }) => tool === check.tool));
        if (other !== undefined) {
          findings.push(
            error(
              [...place, 'tool'],
              `check "${other.id}" wants "${check.tool}" to be called`,
              'Remove one of them.',
            ),
          );
        }
      }
      if (check.type === 'response_excludes') {
        for (const needle of check.patterns) {
          const other = checks.find(
            (one) =>
              one.type === 'response_contains' &&
              one.patterns.some((wanted) => wanted.toLowerCase().includes(needle.toLowerCase())),
          );
          if (other !== undefined && needle !== '') {
            findings.push(
              error(
                place,
                `forbids "${needle}", which what check "${other.id}" asks for contains`,
                'Make the needles disjoint.',
              ),
            );
          }
        }
      }
    });
    return findings;
  },
};
