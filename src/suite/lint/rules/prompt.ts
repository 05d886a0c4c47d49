import { error, type Rule } from '../finding.ts';

export const prompt: Rule = {
  name: 'prompt',
  check: ({ scenario }) =>
    scenario.prompt.trim() === '' ? [error(['prompt'], 'the agent is told nothing', 'Write the task.')] : [],
};
