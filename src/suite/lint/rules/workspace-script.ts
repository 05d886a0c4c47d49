import { warning, type Rule } from '../finding.ts';

/** Setup and teardown run as text in the workspace: there is no file beside them to find. */
export const workspaceScript: Rule = {
  name: 'workspace-script',
  check: ({ setupScript, teardownScript }) =>
    (
      [
        ['setup_script', setupScript],
        ['teardown_script', teardownScript],
      ] as const
    ).flatMap(([field, text]) =>
      text !== null && /\$\{?(?:0\b|BASH_SOURCE)/.test(text)
        ? [
            warning(
              [field],
              'looks for its own path, but runs as text in the workspace',
              'Put what it needs into the workspace.',
            ),
          ]
        : [],
    ),
};
