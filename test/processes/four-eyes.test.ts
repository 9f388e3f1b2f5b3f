import { expect, it } from 'vitest';
import { startFleetProcess } from '#test/support/fleet-process.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

it('FOUR_EYES=none is in the log of a process at start', async () => {
  const started = await startFleetProcess('console', {
    DATABASE_URL: database.databaseUrl,
    CONSOLE_PORT: '0',
    FOUR_EYES: 'none',
  });
  await started.stop();
  expect(started.log()).toContain('FOUR_EYES is none: one person alone can reveal a KYC record');
});
