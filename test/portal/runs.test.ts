import { expect, test } from 'vitest';
import { noteOpenRun } from '#db/queries/run-steps.ts';
import { closeRun } from '#db/queries/runs.ts';
import { arrive } from '#test/portal/developer.ts';
import { useTestConsole } from '#test/support/console.ts';
import { anOpenRun } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const portal = useTestConsole(database);

test('a developer reads what an open run waits for, and why an ended run missed games, without a command of operators', async () => {
  const { sql } = database;
  const { page } = await arrive(sql, portal.url, 'fir');
  const run = await anOpenRun(sql, 'fir');
  await noteOpenRun(sql, run, 'page 1: HTTP 503; by Retry-After, the application is called again at noon');
  expect(await page('/portal/runs')).toContain('called again at noon');
  await closeRun(sql, run, { outcome: 'partial', reason: '1 invalid, 0 failed: see failure list' });
  const ended = await page('/portal/runs');
  expect(ended).toContain('1 invalid, 0 failed<');
  expect(ended).not.toContain('called again at noon');
});
