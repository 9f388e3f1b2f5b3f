import { afterAll, beforeAll, expect, test } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { lockOperator, updateOperator } from '#db/queries/operators.ts';
import { linkOperator, signOutOperator } from '#src/identity/operators.ts';
import { hashPassword } from '#src/identity/password.ts';
import { signInByLink, signInByPassword } from '#src/identity/sign-in.ts';
import { addTestOperator, PASSWORD, TESTS } from '#test/console/support.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

const NEW = 'seven quiet herons leap';
const ADDRESS = '192.0.2.7';
const database = useTestDatabase();
let newHash: string;

beforeAll(async () => {
  newHash = await hashPassword(NEW);
});
afterAll(async () => {
  const left = await database.sql`select from pg_stat_activity
    where datname = current_database() and state = 'idle in transaction'`;
  expect(left).toHaveLength(0);
});

const waiting = (count: number) =>
  until(`${count} statements wait for a lock`, async () => {
    const rows = await database.sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    return rows.length >= count;
  });

test('a sign-in whose password is changed before it ends is refused', async () => {
  const { sql } = database;
  await addTestOperator(sql, 'olga', 'viewer');
  let signIn: ReturnType<typeof signInByPassword> | undefined;
  await sql.begin(async (tx) => {
    await lockOperator(tx, 'olga');
    signIn = signInByPassword(sql, { login: 'olga', password: PASSWORD }, ADDRESS);
    await waiting(1);
    await updateOperator(tx, 'olga', { password_hash: newHash });
  });
  expect(await signIn).toEqual({ kind: 'refused' });
  expect(await sql`select from operator_sessions where login = 'olga'`).toHaveLength(0);
  const [entry] = await listAudit(sql, { actor: 'olga', limit: 1 });
  expect(entry).toMatchObject({ action: 'session.refuse' });
  expect(entry?.reason).toContain('meanwhile');
});

test('a sign-in whose operator is disabled before it ends is refused', async () => {
  const { sql } = database;
  await addTestOperator(sql, 'dara', 'viewer');
  let signIn: ReturnType<typeof signInByPassword> | undefined;
  await sql.begin(async (tx) => {
    await lockOperator(tx, 'dara');
    signIn = signInByPassword(sql, { login: 'dara', password: PASSWORD }, ADDRESS);
    await waiting(1);
    await updateOperator(tx, 'dara', { status: 'disabled' });
  });
  expect(await signIn).toEqual({ kind: 'refused' });
  expect(await sql`select from operator_sessions where login = 'dara'`).toHaveLength(0);
});

test('a link that is used while an administrator ends the sessions is no deadlock, and opens no session', async () => {
  const { sql } = database;
  await addTestOperator(sql, 'kim', 'viewer');
  const link = await linkOperator(sql, TESTS, 'kim');
  let ended: Promise<number> | undefined;
  let used: ReturnType<typeof signInByLink> | undefined;
  await sql.begin(async (tx) => {
    await lockOperator(tx, 'kim');
    ended = signOutOperator(sql, TESTS, 'kim');
    await waiting(1);
    used = signInByLink(sql, link, NEW, ADDRESS);
    await waiting(2);
  });
  expect(await ended).toBe(0);
  expect(await used).toBeUndefined();
  expect(await sql`select from operator_sessions where login = 'kim'`).toHaveLength(0);
});
