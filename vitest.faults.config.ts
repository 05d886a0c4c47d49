import { defineConfig } from 'vitest/config';

/** Every row of test/faults/table.md, also those that take long. */
export default defineConfig({
  test: {
    include: ['test/faults/**/*.test.ts'],
    globalSetup: ['test/e2e/setup.ts'],
    env: { CLAWBENCH_FAULTS: 'all' },
    testTimeout: 1_200_000,
    hookTimeout: 1_500_000,
    fileParallelism: false,
    maxConcurrency: 4,
  },
});
