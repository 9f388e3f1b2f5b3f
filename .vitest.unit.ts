import { defineConfig } from 'vitest/config';

/** The tests that `npm run mutate` runs against each mutant: they need no database and no queue. */
export default defineConfig({
  test: {
    include: [
      'test/rules/**/*.test.ts',
      'test/sealing/**/*.test.ts',
      'test/contract/text.test.ts',
      'test/webhooks/egress*.test.ts',
      'test/webhooks/networks.test.ts',
    ],
    pool: 'forks',
    testTimeout: 60_000,
  },
});
