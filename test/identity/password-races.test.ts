import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Queryable } from '#db/client.ts';
import { listAudit } from '#db/queries/audit.ts';
import { findOperator, lockOperator, updateOperator } from '#db/queries/operators.ts';
import { deleteSessionsOf } from '#db/queries/sign-in.ts';
import { hashPassword, verifyPassword } from '#src/identity/password.ts';
import { openSession, readSession, signInByLink, signInByPassword } from '#src/identity/sign-in.ts';
import { changePassword } from '#src/operations/account.ts';
import { operate } from '#src/operations/operate.ts';
import { untilBlocked } from '#test/support/blocked.ts';
import { addTestOperator, PASSWORD, TESTS } from '#test/support/console.ts';
import { linkOperator, operatorCaller, signOutOperator, testPlatform } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const NEW = 'seven quiet herons leap';
const VISIT = { site: 'console', address: '192.0.2.7' } as const;
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

test('a sign-in whose password is changed before it ends is refused', async () => {
  const { sql } = database;
  await addTestOperator(sql, 'olga', 'viewer');
  let signIn: ReturnType<typeof signInByPassword> | undefined;
  await sql.begin(async (tx) => {
    await lockOperator(tx, 'olga');
    signIn = signInByPassword(sql, { login: 'olga', password: PASSWORD }, VISIT);
    await untilBlocked(database.sql);
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
    signIn = signInByPassword(sql, { login: 'dara', password: PASSWORD }, VISIT);
    await untilBlocked(database.sql);
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
    await untilBlocked(database.sql);
    used = signInByLink(sql, link, NEW, VISIT);
    await untilBlocked(database.sql, 2);
  });
  expect(await ended).toBe(0);
  expect(await used).toBeUndefined();
  expect(await sql`select from operator_sessions where login = 'kim'`).toHaveLength(0);
});

/** Begins a change of the password and, while it waits for the operator, does this in a transaction that is first. */
const changeAfter = async (login: string, meanwhile: (tx: Queryable) => Promise<unknown>) => {
  const { sql } = database;
  await addTestOperator(sql, login, 'viewer');
  const session = (await sql.begin((tx) => openSession(tx, { login, by: 'password', ...VISIT }))) as string;
  let change: Promise<unknown> | undefined;
  await sql.begin(async (tx) => {
    await lockOperator(tx, login);
    const typed = { current: PASSWORD, password: 'eight loud ravens sleep' };
    const caller = { ...operatorCaller(login, 'viewer'), session: { secret: session, ...VISIT } };
    change = operate(changePassword, typed, caller, testPlatform(sql)).catch((error: Error) => error.message);
    await untilBlocked(database.sql);
    await meanwhile(tx);
  });
  return { result: await change, session };
};

test('a change after which the current password is another one is refused, also if its session is still open', async () => {
  const { result, session } = await changeAfter('mira', (tx) =>
    updateOperator(tx, 'mira', { password_hash: newHash }),
  );
  expect(result).toEqual({ kind: 'refused' });
  expect((await findOperator(database.sql, 'mira'))?.password_hash).toBe(newHash);
  expect(await readSession(database.sql, session, 'console', false)).toMatchObject({ login: 'mira' });
});

test.each([
  ['whose session ends', 'noor', (tx: Queryable) => deleteSessionsOf(tx, 'noor')],
  [
    'whose operator is disabled',
    'taro',
    (tx: Queryable) => updateOperator(tx, 'taro', { status: 'disabled' }),
  ],
])('a change %s before it is written changes nothing', async (_what, login, meanwhile) => {
  const { result } = await changeAfter(login, meanwhile);
  expect(result).toBe('This session has ended: sign in again.');
  const hash = (await findOperator(database.sql, login))?.password_hash ?? null;
  expect(await verifyPassword(PASSWORD, hash)).toBe(true);
});
