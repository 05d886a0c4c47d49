import { warning, type Rule, type RuleFinding } from '../finding.ts';

/** Fields of the format that serve replays, which are not part of this product. */
const REPLAY_FIELDS = ['replay_traces', 'mock_responses', 'fault_injection'] as const;

/** A field that looks as if it did something and that nothing reads. */
export const unreadField: Rule = {
  name: 'unread-field',
  check: ({ scenario, written }) => {
    const findings: RuleFinding[] = [];
    if (Object.keys(scenario.fixtures).length > 0) {
      findings.push(
        warning(
          ['fixtures'],
          'nothing reads fixtures: the files do not reach the workspace',
          'Use workspace_seed_dir or workspace_files.',
        ),
      );
    }
    for (const field of REPLAY_FIELDS) {
      const value = written[field];
      if (typeof value === 'object' && value !== null && Object.keys(value).length > 0) {
        findings.push(
          warning([field], `nothing reads ${field}: scenarios are run, not replayed`, 'Remove it.'),
        );
      }
    }
    const limit = scenario.carried['time_limit'];
    if (typeof limit === 'number' && limit !== scenario.timeout_seconds) {
      findings.push(
        warning(
          ['time_limit'],
          `nothing reads time_limit (${limit}); the clock is timeout_seconds (${scenario.timeout_seconds})`,
          'Put the number into timeout_seconds.',
        ),
      );
    }
    writtenChecks(written).forEach(({ place, check }) => {
      if (check['severity'] !== undefined && check['category'] !== 'safety') {
        findings.push(
          warning(
            [...place, 'severity'],
            'only safety checks have a severity',
            'Remove it, or set category to safety.',
          ),
        );
      }
      if (check['type'] === 'tool_response_excludes' && check['path'] !== undefined) {
        findings.push(
          warning([...place, 'path'], 'tool_response_excludes reads the whole result', 'Remove path.'),
        );
      }
    });
    return findings;
  },
};

function writtenChecks(written: Readonly<Record<string, unknown>>) {
  const scoring = written['scoring'];
  const nested =
    typeof scoring === 'object' && scoring !== null && 'checks' in scoring ? scoring.checks : undefined;
  const [value, place] =
    written['checks'] === undefined ? [nested, ['scoring', 'checks']] : [written['checks'], ['checks']];
  const checks: unknown[] = Array.isArray(value) ? value : [];
  return checks.flatMap((check, index) =>
    typeof check === 'object' && check !== null
      ? [{ place: [...place, index], check: check as Readonly<Record<string, unknown>> }]
      : [],
  );
}
