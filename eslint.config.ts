import type { Linter } from 'eslint';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

/** What runs are made of, wherever they run. */
const RUNS_ATTEMPTS = [
  'api',
  'files',
  'suite',
  'artifacts',
  'runtimes',
  'gateway',
  'supervision',
  'scoring',
  'attempt',
  'report',
] as const;

/**
 * The one direction in which modules of src/ may import, from docs/architecture.md: each folder may use
 * itself and the folders listed for it, nothing else.
 */
const MAY_IMPORT = {
  api: [],
  files: ['api'],
  suite: ['api', 'files'],
  artifacts: ['api', 'files'],
  runtimes: ['api', 'files', 'suite', 'artifacts'],
  gateway: ['api', 'files', 'suite', 'artifacts'],
  supervision: ['api', 'files', 'suite', 'artifacts'],
  scoring: ['api', 'files', 'suite', 'artifacts'],
  attempt: ['api', 'files', 'suite', 'artifacts', 'runtimes', 'gateway', 'supervision', 'scoring'],
  report: ['api', 'files', 'suite', 'artifacts', 'runtimes', 'gateway', 'supervision', 'scoring'],
  kube: ['api', 'files'],
  local: RUNS_ATTEMPTS,
  // What runs inside the operator's pods: prepare, harness, score rounds.
  pods: [...RUNS_ATTEMPTS, 'kube'],
  controller: [...RUNS_ATTEMPTS, 'kube'],
  cli: [...RUNS_ATTEMPTS, 'kube', 'local', 'pods', 'controller'],
} as const;

const folders = Object.keys(MAY_IMPORT);

const importDirection = Object.entries(MAY_IMPORT).map(([folder, allowed]) => {
  const forbidden = folders.filter(
    (other) => other !== folder && !(allowed as readonly string[]).includes(other),
  );
  return {
    files: [`src/${folder}/**/*.ts`],
    rules: {
      'no-restricted-imports': [
        'error' as const,
        {
          patterns: forbidden.map((other) => ({
            regex: `^(\\.\\./)+${other}/`,
            message: `src/${folder} may import only from ${['itself', ...allowed].join(', ')} (docs/architecture.md).`,
          })),
        },
      ],
    },
  } satisfies Linter.Config;
});

export default defineConfig(
  {
    ignores: [
      'node_modules/',
      'dist/',
      'coverage/',
      'clawbench-demo/',
      '.devcluster/',
      'scenarios/',
      'test/**/fixtures/',
    ],
  },
  ...tseslint.configs.strictTypeChecked,
  ...tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // A record's own keys are compared by name in many schemas; unused rest siblings drop a field by intent.
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true, argsIgnorePattern: '^_' }],
      'no-console': 'error',
      eqeqeq: 'error',
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
    },
  },
  ...importDirection,
  // Runs in a reader's browser as it is, outside the TypeScript project.
  { files: ['src/report/page/assets/*.js'], ...tseslint.configs.disableTypeChecked },
  { files: ['src/cli/**', 'hack/**'], rules: { 'no-console': 'off' } },
  // node:test style matchers of vitest return promises only where awaited; fixtures may be longer than code.
  { files: ['test/**'], rules: { '@typescript-eslint/no-non-null-assertion': 'off' } },
);
