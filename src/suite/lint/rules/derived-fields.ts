import { isDerivedTag } from '../../scenario-file.ts';
import { warning, type Rule, type RuleFinding } from '../finding.ts';

/** Written values that say something else than what is derived from other fields. */
export const derivedFields: Rule = {
  name: 'derived-fields',
  check: ({ scenario, written }) => {
    const findings: RuleFinding[] = [];
    const tags: unknown[] = Array.isArray(written['tags']) ? written['tags'] : [];
    tags.forEach((tag, index) => {
      if (typeof tag === 'string' && isDerivedTag(tag) && !scenario.tags.includes(tag)) {
        findings.push(
          warning(
            ['tags', index],
            `"${tag}" is derived from other fields, which say otherwise`,
            'Remove it and set the field.',
          ),
        );
      }
    });
    const native = scenario.signal_source === 'openclaw_native';
    if (native && scenario.openclaw_surfaces.length === 0) {
      findings.push(
        warning(
          ['signal_source'],
          'is openclaw_native without any surface, so no runtime is found unsuitable',
          'List openclaw_surfaces.',
        ),
      );
    }
    if (scenario.signal_source === 'replay') {
      findings.push(
        warning(
          written['signal_source'] === undefined ? ['execution_mode'] : ['signal_source'],
          'is replay, but scenarios are run, not replayed',
          'Set execution_mode to live and signal_source to workspace_live or openclaw_native.',
        ),
      );
    }
    return findings;
  },
};
