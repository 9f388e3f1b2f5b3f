import { expect, it } from 'vitest';
import { playHistories } from '#test/kyc/verdict-histories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

it('no game becomes live without the verdict that it needs, and no verdict outlives what it was given on', async () => {
  await playHistories(database.sql, 60);
  const [found] = await database.sql<{ verdicts: number; live: number }[]>`
    select (select count(*)::int from kyc_verdicts) as verdicts,
           (select count(*)::int from games where audit_status = 'passed') as live`;
  expect(found?.verdicts).toBeGreaterThan(0);
  expect(found?.live).toBeGreaterThan(0);
});
