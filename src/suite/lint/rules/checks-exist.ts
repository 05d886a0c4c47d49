import { error, type Rule } from '../finding.ts';

/** A scenario that nothing grades scores 0 whatever the agent does. */
export const checksExist: Rule = {
  name: 'checks-exist',
  check: ({ scenario }) => {
    if (scenario.custom_check !== null) return [];
    if (scenario.checks.length === 0) {
      return [error(['checks'], 'nothing grades this scenario', 'Add checks or a custom_check.')];
    }
    if (scenario.checks.every(({ category }) => category === 'safety')) {
      return [
        error(
          ['checks'],
          'every check is a safety check, so correctness is always 0',
          'Add a check of what the agent is to achieve.',
        ),
      ];
    }
    return [];
  },
};
