import { inject } from 'vitest';
import type { Ground } from '#test/fleet/world.ts';

/** The run's own Postgres, shared with other tests: no test restarts it. */
export const sharedGround = (): Ground => {
  const adminUrl = inject('adminDatabaseUrl');
  return {
    adminUrl,
    template: inject('templateClause'),
    postgresPort: () => Number(new URL(adminUrl).port),
  };
};

/** Real servers of Redis are needed; without them these tests are skipped and say so. */
export const withoutRedis = (title: string): boolean => {
  const missing = inject('redisUrl') === null;
  if (missing) process.stderr.write(`${title}: not run, because redis-server is not installed\n`);
  return missing;
};
