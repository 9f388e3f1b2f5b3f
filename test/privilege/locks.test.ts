import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Database, openDatabase } from '#db/client.ts';
import { grantRoles } from '#db/grant-roles.ts';
import { LOCKS } from '#db/locks.ts';
import { endOverdueSessions, readBlocking } from '#db/queries/connections.ts';
import { roleName } from '#db/roles.ts';
import { onlyValue } from '#db/rows.ts';
import { useStolenLogins } from '#test/privilege/support.ts';
import { urlOfRole } from '#test/support/roles.ts';
import { until } from '#test/support/until.ts';

const { database } = useStolenLogins();
let worker: Database;
beforeAll(async () => {
  expect(await grantRoles(database.sql, {})).toEqual([]);
  worker = database.as('worker');
  // The function of the migration, with 0.4 s in the place of each minute.
  const source = await onlyValue(
    database.sql<{ text: string }[]>`select pg_get_functiondef('process_sessions()'::regprocedure) as text`,
  );
  const hastened = source
    .replace("'30 minutes'", "'2 seconds'")
    .replaceAll(/'(\d+) minutes?'/g, (_, minutes) => `'${minutes * 400} milliseconds'`)
    .replace(/blocks_s > 30/g, 'blocks_s > 0.4')
    // Other tests have databases of their own in this cluster.
    .replace('or public.is_process', "or s.datname = 'postgres' and public.is_process");
  expect(hastened).not.toEqual(source);
  await database.sql.unsafe(hastened);
});

let stolen: Database;
beforeEach(async () => {
  // As where the owner may not revoke them.
  await database.sql`grant execute on function pg_advisory_lock(bigint), pg_advisory_xact_lock(bigint) to public`;
  // Whoever has a login decides on the settings of the session.
  stolen = openDatabase(urlOfRole(database.databaseUrl, 'api'), { max: 1, statementMs: 0 });
  return async () => stolen.end({ timeout: 1 });
});
afterAll(() => worker.end());

const pidOf = (sql: Database) => onlyValue(sql<{ pid: number }[]>`select pg_backend_pid() as pid`);
const isOpen = async (pid: number) =>
  (await database.sql`select from pg_stat_activity where pid = ${pid}`).length === 1;
/** What a worker does every half minute. */
const untilEnded = (pid: number) =>
  until('the session is ended', async () => {
    await endOverdueSessions(worker);
    return !(await isOpen(pid));
  });

it('a session that is idle in a transaction and blocks others is named by its role, and ended', async () => {
  const pid = await pidOf(stolen);
  await stolen`set idle_in_transaction_session_timeout = 0`;
  const locked = Promise.withResolvers<void>();
  const holding = stolen.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${LOCKS.eventPositions})`;
    locked.resolve();
    await until('the session is ended', async () => !(await isOpen(pid)));
  });
  holding.catch(locked.reject);
  await locked.promise;
  const console = database.as('console');
  const waiting = database.sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${LOCKS.eventPositions})`;
  });
  await until('the metric names the role', async () => {
    const [first] = await readBlocking(console);
    return first?.blocker === roleName('api') && first.seconds > 0;
  });
  await untilEnded(pid);
  await expect(holding).rejects.toThrow();
  await waiting;
  expect(await readBlocking(worker)).toEqual([]);
});

it('the metric names a superuser who blocks others, although the owner of the database is none', async () => {
  const { sql } = database;
  const owner = roleName('operator');
  const former = await onlyValue(sql<{ name: string }[]>`select current_user as name`);
  await sql.unsafe(`alter function process_sessions() owner to ${owner}`);
  const waiter = database.as('console');
  const waiting = sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${LOCKS.eventPositions})`;
    const lock = waiter.begin((other) => other`select pg_advisory_xact_lock(${LOCKS.eventPositions})`);
    await until('the metric names the superuser', async () => {
      const [first] = await readBlocking(worker);
      return first?.blocker === former && first.seconds > 0;
    });
    return { lock };
  });
  await (await waiting).lock;
  await sql.unsafe(`alter function process_sessions() owner to ${former}`);
});

it('a session in another database of the cluster is ended that keeps migrate from the roles', async () => {
  const elsewhere = new URL(urlOfRole(database.databaseUrl, 'api'));
  elsewhere.pathname = '/postgres';
  const other = openDatabase(elsewhere.href, { max: 1, statementMs: 0 });
  const pid = await pidOf(other);
  await other`set idle_in_transaction_session_timeout = 0`;
  const locked = Promise.withResolvers<void>();
  const holding = other.begin(async (tx) => {
    await tx.unsafe(`alter role ${roleName('api')} password 'another one'`);
    locked.resolve();
    await until('the session is ended', async () => !(await isOpen(pid)));
  });
  holding.catch(locked.reject);
  await locked.promise;
  const granting = grantRoles(database.sql, {});
  await untilEnded(pid);
  await expect(holding).rejects.toThrow();
  expect(await granting).toEqual([]);
  await other.end({ timeout: 1 });
});

it.each([
  ['runs one statement after another', 0.01, 0],
  ['is idle for a moment after each statement', 0, 300],
])('a transaction that blocks no session is ended, although it %s', async (_, runS, idleMs) => {
  const pid = await pidOf(stolen);
  const holding = stolen.begin(async (tx) => {
    await tx`select pg_current_xact_id()`;
    for (;;) {
      await tx`select pg_sleep(${runS})`;
      await delay(idleMs);
    }
  });
  const ended = expect(holding).rejects.toThrow();
  await untilEnded(pid);
  await ended;
});

it('a session in another database that keeps a transaction is ended, although it blocks none', async () => {
  const elsewhere = new URL(urlOfRole(database.databaseUrl, 'kyc_desk'));
  elsewhere.pathname = '/postgres';
  const other = openDatabase(elsewhere.href, { max: 1, statementMs: 0 });
  const pid = await pidOf(other);
  await other`set idle_in_transaction_session_timeout = 0`;
  const holding = other.begin(async (tx) => {
    await tx`select pg_current_xact_id()`;
    await until('the session is ended', async () => !(await isOpen(pid)));
  });
  const ended = expect(holding).rejects.toThrow();
  await untilEnded(pid);
  await ended;
  await other.end({ timeout: 1 });
});

it('a session that listens and reads nothing is ended, because it keeps the notifications of all databases', async () => {
  const url = new URL(urlOfRole(database.databaseUrl, 'api'));
  const socket = connect(Number(url.port), url.hostname);
  const deaf = postgres(url.href, { max: 1, fetch_types: false, socket: () => socket } as object);
  const pid = await pidOf(deaf as unknown as Database);
  await deaf`listen x`;
  socket.pause();
  const loud = database.as('kyc_desk');
  await until('it cannot send the notifications', async () => {
    await loud`select pg_notify('x', repeat('x', 7900) || n) from generate_series(1, 200) n`;
    const [session] =
      await database.sql`select state, wait_event, xact_start from pg_stat_activity where pid = ${pid}`;
    return session?.wait_event === 'ClientWrite';
  });
  await untilEnded(pid);
  socket.destroy();
  await deaf.end({ timeout: 1 }).catch(() => {});
});

it('a session that keeps an advisory lock outside of a transaction is ended, although it blocks none yet', async () => {
  const pid = await pidOf(stolen);
  await stolen`select pg_advisory_lock(${LOCKS.reconcile})`;
  await untilEnded(pid);
});

it('a statement that runs for longer than any of ours is ended', async () => {
  const pid = await pidOf(stolen);
  const running = expect(stolen`select pg_sleep(600)`).rejects.toThrow();
  await untilEnded(pid);
  await running;
});

it('a session that keeps the lock of a chore is ended, although it runs one statement after another', async () => {
  const pid = await pidOf(stolen);
  await stolen`select pg_advisory_lock(${LOCKS.reconcile})`;
  const running = (async () => {
    for (;;) await stolen`select pg_sleep(0.01)`;
  })();
  const ended = expect(running).rejects.toThrow();
  await untilEnded(pid);
  await ended;
});

it('a session stays that takes one lock after another, each until its transaction ends', async () => {
  const honest = openDatabase(urlOfRole(database.databaseUrl, 'operator'), { max: 1 });
  const pid = await pidOf(honest);
  let isDone = false;
  const working = (async () => {
    for (let key = 1; !isDone; key += 1)
      await honest.begin((tx) => tx`select pg_advisory_xact_lock(${key}), pg_sleep(0.1)`);
  })();
  working.catch(() => {});
  // Each call looks ten times within two seconds.
  for (let call = 1; call <= 4; call += 1) await endOverdueSessions(worker);
  isDone = true;
  await working;
  expect(await isOpen(pid)).toBe(true);
  await honest.end();
});

it('a transaction that blocks others is ended, although it runs one statement after another', async () => {
  const pid = await pidOf(stolen);
  const locked = Promise.withResolvers<void>();
  const holding = stolen.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${LOCKS.eventPositions})`;
    locked.resolve();
    for (;;) await tx`select pg_sleep(0.01)`;
  });
  const ended = expect(holding).rejects.toThrow();
  await locked.promise;
  // Who waits gives up before the transaction is old, and waits again.
  const waiting = until('the lock is free', async () => {
    const impatient = database.sql.begin(async (tx) => {
      // Not in step with the looks, which take two seconds.
      await tx`set local lock_timeout = '1300ms'`;
      await tx`select pg_advisory_xact_lock(${LOCKS.eventPositions})`;
      return true;
    });
    return impatient.catch(() => false);
  });
  await untilEnded(pid);
  await ended;
  await waiting;
});

it('sessions that do no harm stay, and so do those of the owner', async () => {
  const harmless = database.as('api');
  const owner = openDatabase(database.databaseUrl, { max: 1, statementMs: 0 });
  const pids = [await pidOf(harmless), await pidOf(owner)];
  await owner`select pg_advisory_lock(1)`;
  const pid = await pidOf(stolen);
  await stolen`select pg_advisory_lock(2)`;
  await untilEnded(pid);
  expect(await Promise.all(pids.map(isOpen))).toEqual([true, true]);
  await owner.end();
});
