import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // One Postgres and one Redis for the whole run; each test file takes a database of its own from them.
    globalSetup: ['test/support/global-setup.ts'],
    // A process per file: a test that leaks connections or timers harms itself only.
    pool: 'forks',
    // One more than the cores of a small machine: many tests wait for other processes most of their time.
    maxWorkers: 3,
    // These limits end a test that hangs. They leave room for slow machines.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
