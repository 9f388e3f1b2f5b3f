import { expect, onTestFinished, test } from 'vitest';
import { startCli } from '#test/support/cli.ts';
import { createTestDatabase } from '#test/support/postgres-server.ts';
import { until } from '#test/support/until.ts';

test('a worker that still waits for Redis exits at SIGTERM', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const worker = startCli(['worker'], {
    DATABASE_URL: database.databaseUrl,
    REDIS_URL: 'redis://127.0.0.1:1',
    METRICS_PORT: '0',
  });
  onTestFinished(() => worker.kill('SIGKILL'));
  await until('it waits', () => worker.output().stderr.includes('the queue is unreachable'));
  worker.kill('SIGTERM');
  expect((await worker.done).exit).toBe(0);
});
