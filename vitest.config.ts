import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Limits that only a hang meets: the slowest test of the fast projects takes a few seconds alone. */
const HANG = { testTimeout: 300_000, hookTimeout: 300_000, expect: { poll: { timeout: 120_000 } } };

/** One Postgres, one Redis and one browser for the run; each test file takes a database of its own from them. */
const SERVERS = ['test/support/global-setup.ts'];

/** More than the cores of a small machine, because tests wait for other processes half of their time. */
const WORKERS = Math.max(6, availableParallelism());

export default defineConfig({
  test: {
    coverage: {
      provider: 'v8',
      include: ['{src,jobs,db}/**/*.ts'],
      // It runs in the browser.
      exclude: ['src/site/browser/**'],
      reporter: ['text-summary', 'json-summary'],
      reportOnFailure: true,
    },
    reporters: ['default', './test/support/failures-reporter.ts'],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.unit.test.ts'],
          // These tests start no process and share no state, so one thread runs many files.
          pool: 'threads',
          isolate: false,
          maxWorkers: WORKERS,
          ...HANG,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.{unit,slow}.test.ts'],
          globalSetup: SERVERS,
          // Processes, because tests watch the memory, the signals and the time zone of theirs. Each runs many files: to load
          // the modules again for each of 180 files takes as much CPU time as half of the tests.
          pool: 'forks',
          isolate: false,
          maxWorkers: WORKERS,
          ...HANG,
        },
      },
      {
        test: {
          name: 'slow',
          include: ['test/**/*.slow.test.ts'],
          globalSetup: SERVERS,
          pool: 'forks',
          // These tests measure memory and time, or load the machine themselves. Each file has a process of its own.
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
          ...HANG,
          testTimeout: 900_000,
        },
      },
    ],
  },
});
