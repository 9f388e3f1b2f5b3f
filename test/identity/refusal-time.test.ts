// The audit log has an entry of each refused sign-in up to a bound: writing it takes milliseconds, which add up in medians.
import { beforeAll, expect, test } from 'vitest';
import { countRefusal } from '#db/queries/sign-in.ts';
import { addTestOperator, useTestConsole } from '#test/support/console.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const site = useTestConsole(database);

beforeAll(async () => {
  await addTestOperator(database.sql, 'olga', 'viewer');
  await addTestOperator(database.sql, 'opal', 'viewer');
  for (let n = 0; n < 40; n += 1) await countRefusal(database.as('console'), 'session.refuse operator olga');
});

const entries = async () => (await database.sql`select from audit_log where action = 'session.refuse'`).count;

test.each([
  ['of an operator whose refusals are written', 'opal', 1],
  ['of an operator whose refusals are counted alone', 'olga', 0],
  ['of no operator', 'stranger', 1],
])('the time of a refusal %s does not tell what was written', async (_, login, written) => {
  const before = await entries();
  const from = performance.now();
  const body = new URLSearchParams({ login, password: 'quite another one' });
  const { status } = await fetch(new URL('/sign-in', site.url), { method: 'POST', body });
  expect(performance.now() - from).toBeGreaterThan(99);
  expect([status, (await entries()) - before]).toEqual([401, written]);
});
