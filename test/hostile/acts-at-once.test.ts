// Two administrators act at once: what one ends, the other's act that is under way does not bring back.
import { beforeEach, expect, test } from 'vitest';
import { listAudit, recordAudit } from '#db/queries/audit.ts';
import { untilBlocked } from '#test/support/blocked.ts';
import { addTestOperator, PASSWORD, signIn, TESTS, useTestConsole } from '#test/support/console.ts';
import { KIM, setRoles, switchOperator } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const site = useTestConsole(database);

beforeEach(async () => {
  await database.sql`truncate operators cascade`;
  for (const login of ['ada', 'bob']) await addTestOperator(database.sql, login, 'admin');
});

const stateOf = async (login: string) =>
  (await database.sql`select status, roles from operators where login = ${login}`)[0];
/** How many transactions wait for a lock. */
const act = async (path: string, cookie: string, fields: Record<string, string>) =>
  (
    await fetch(new URL(path, site.url), {
      method: 'POST',
      headers: { cookie },
      redirect: 'manual',
      body: new URLSearchParams(fields),
    })
  ).text();

/** Begins acts one after another while the audit log is locked: each has made its change before the first commits. */
const atOnce = async (...acts: (() => Promise<unknown>)[]): Promise<void> => {
  const begun: Promise<unknown>[] = [];
  await database.sql.begin(async (tx) => {
    await recordAudit(tx, [{ ...TESTS, action: 'operator.add', subject: 'operator:tess' }]);
    for (const each of acts) {
      begun.push(each());
      await untilBlocked(database.sql, begun.length);
    }
  });
  await Promise.allSettled(begun);
};

test('an administrator who is disabled does not enable herself by a form that is under way', async () => {
  const cookie = await signIn(site.url, 'ada');
  await atOnce(
    () => switchOperator(database.sql, KIM.actor, 'ada', 'disabled'),
    () => act('/operators', cookie, { act: 'enable', login: 'ada', password: PASSWORD }),
  );
  expect(await stateOf('ada')).toEqual({ status: 'disabled', roles: ['admin'] });
});

test('an administrator who loses the role does not take it back by a form that is under way', async () => {
  const cookie = await signIn(site.url, 'ada');
  await atOnce(
    () => setRoles(database.sql, KIM.actor, 'ada', ['viewer']),
    () => act('/operators', cookie, { act: 'roles', login: 'ada', role: 'admin', password: PASSWORD }),
  );
  expect(await stateOf('ada')).toEqual({ status: 'active', roles: ['viewer'] });
});

test('of two administrators who disable each other at once, one remains', async () => {
  const [ada, bob] = [await signIn(site.url, 'ada'), await signIn(site.url, 'bob')];
  await atOnce(
    () => act('/operators', ada, { act: 'disable', login: 'bob', password: PASSWORD }),
    () => act('/operators', bob, { act: 'disable', login: 'ada', password: PASSWORD }),
  );
  expect([await stateOf('ada'), await stateOf('bob')]).toMatchObject([
    { status: 'active' },
    { status: 'disabled' },
  ]);
});

test.each([
  ['is disabled', () => switchOperator(database.sql, KIM.actor, 'ada', 'disabled')],
  ['loses the role', () => setRoles(database.sql, KIM.actor, 'ada', ['viewer'])],
] as const)('an act that waits when its administrator %s is not done', async (_, change) => {
  const cookie = await signIn(site.url, 'ada');
  const added = { act: 'add', code: 'late', label: 'Late', text: 'Late' };
  await atOnce(change, () => act('/reasons', cookie, added));
  expect(await database.sql`select from reasons where code = 'late'`).toHaveLength(0);
  expect(await listAudit(database.sql, { actor: 'ada', action: 'reason.add', limit: 1 })).toEqual([]);
});
