import { didYouMean } from '../../../files/suggest.ts';
import { error, type Rule } from '../finding.ts';

/** With an unknown id in process_requires the process score is always 0. A checker's checkpoints are not known here. */
export const processRequires: Rule = {
  name: 'process-requires',
  check: ({ scenario }) => {
    if (scenario.custom_check !== null) return [];
    const ids = scenario.checks.map(({ id }) => id);
    return scenario.process_requires.flatMap((id, index) =>
      ids.includes(id)
        ? []
        : [
            error(
              ['process_requires', index],
              `there is no check "${id}"`,
              didYouMean(id, ids) ?? 'Name the id of a check.',
            ),
          ],
    );
  },
};
