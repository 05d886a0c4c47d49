import { defineConfig } from 'vitest/config';

/** On a real node: the development cluster is brought up and the chart installed first (Debian, root, Go). */
export default defineConfig({
  test: {
    include: ['test/e2e/**/*.test.ts', 'test/faults/**/*.test.ts'],
    globalSetup: ['test/e2e/setup.ts'],
    testTimeout: 300_000,
    hookTimeout: 1_500_000,
    // One cluster for all: files one after the other, the rows within a file side by side.
    fileParallelism: false,
    maxConcurrency: 4,
  },
});
