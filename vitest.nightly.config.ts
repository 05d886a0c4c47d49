import { defineConfig } from 'vitest/config';

/** Long ones, run whole at night: no part of `npm test`. */
export default defineConfig({
  test: { include: ['test/nightly/**/*.test.ts'], testTimeout: 1_800_000, fileParallelism: false },
});
