import { didYouMean } from '../../../files/suggest.ts';
import { warning, type Rule } from '../finding.ts';

/** The ideal sequence may use only what counts as expected: any other tool lowers the process score. */
export const toolLists: Rule = {
  name: 'tool-lists',
  check: ({ scenario }) => {
    const [field, expected] =
      scenario.expected_tools.length > 0
        ? (['expected_tools', scenario.expected_tools] as const)
        : (['tools', scenario.tools] as const);
    if (expected.length === 0) return [];
    return scenario.ideal_tool_sequence.flatMap((tool, index) =>
      expected.includes(tool)
        ? []
        : [
            warning(
              ['ideal_tool_sequence', index],
              `"${tool}" is not in ${field}, so calling it lowers the process score`,
              didYouMean(tool, expected) ?? `Add it to ${field}.`,
            ),
          ],
    );
  },
};
