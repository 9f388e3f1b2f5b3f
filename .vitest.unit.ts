import { defineConfig } from 'vitest/config';

/** The tests that `npm run mutate` runs against each mutant: they need no database and no queue. */
export default defineConfig({
  test: {
    include: [
      'test/{rules,sealing,egress}/**/*.unit.test.ts',
      'test/sealing/key-ring.test.ts',
      'test/contract/text.unit.test.ts',
    ],
    pool: 'forks',
    testTimeout: 60_000,
  },
});
