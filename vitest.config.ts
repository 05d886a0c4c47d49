import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/unit/**/*.test.ts', 'test/machine/**/*.test.ts'],
    testTimeout: 60_000,
    // Machine tests start processes of their own: more at once than cores only makes each slower.
    maxConcurrency: 3,
    coverage: { include: ['src/**/*.ts'], reporter: ['text-summary', 'html'] },
  },
});
