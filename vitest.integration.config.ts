import { defineConfig } from 'vitest/config';

/** Against a real API server; its programs are built first where they are missing (Debian, root, Go). */
export default defineConfig({
  test: {
    include: ['test/integration/**/*.test.ts'],
    globalSetup: ['test/integration/setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Each file starts an API server of its own, which alone fills a core while it starts.
    maxWorkers: 2,
  },
});
