import { expect, onTestFinished, test } from 'vitest';
import { type Database, openDatabase } from '#db/client.ts';
import { onlyValue } from '#db/rows.ts';
import { explainServerFault } from '#src/server-faults.ts';
import { startTemporaryPostgres } from '#test/support/temporary-postgres.ts';

test('where one session keeps every lock that Postgres has room for, others say so, and go on once it is ended', async () => {
  await using server = await startTemporaryPostgres({ max_connections: '20' });
  const open = (): Database => {
    const sql = openDatabase(server.databaseUrl, { max: 1 });
    onTestFinished(() => sql.end({ timeout: 1 }));
    return sql;
  };
  const [held, admin] = [open(), open()];
  const pid = await onlyValue(held<{ pid: number }[]>`select pg_backend_pid() as pid`);
  await admin`select 1`;
  const full = Promise.withResolvers<void>();
  const holding = held.begin(async (tx) => {
    for (let locks = 0, step = 4_096; step >= 1; ) {
      const more = tx.savepoint(
        (within) =>
          within`select pg_advisory_xact_lock(${locks}::int + n) from generate_series(1, ${step}::int) n`,
      );
      const hasRoom = await more.then(
        () => true,
        () => false,
      );
      if (hasRoom) locks += step;
      else step = Math.floor(step / 2);
    }
    full.resolve();
    await tx`select pg_sleep(60)`;
  });
  holding.catch(full.reject);
  await full.promise;
  for (const sql of [open(), admin]) {
    const error = await sql`select count(*) from pg_stat_activity`.catch((thrown: Error) => thrown);
    expect(explainServerFault(error as Error)).toContain('Postgres has no room for a further lock (53200)');
  }
  expect(await admin`select pg_terminate_backend(${pid})`).toHaveLength(1);
  await expect(holding).rejects.toThrow();
  expect(await open()`select count(*) from pg_stat_activity`).toHaveLength(1);
});
