import { expect, it } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { endOverdueSessions } from '#db/queries/connections.ts';
import { urlOfRole } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

it('ten thousand locks of a stolen login do not keep a worker from looking at all sessions in time', async () => {
  const worker = database.as('worker');
  const measure = async (): Promise<number> => {
    const from = performance.now();
    await endOverdueSessions(worker);
    return performance.now() - from;
  };
  const stolen = openDatabase(urlOfRole(database.databaseUrl, 'media'), { max: 1, statementMs: 0 });
  const measureWith = (locks: number) =>
    stolen.begin(async (tx) => {
      await tx`set local idle_in_transaction_session_timeout = 0`;
      // Other locks each time: a lock that is there again in a later transaction ends its session, if a worker of another test looks.
      await tx`select pg_advisory_xact_lock(${locks} + n) from generate_series(1, ${locks}::int) n`;
      return measure();
    });
  const few = await measureWith(1);
  expect((await measureWith(10_000)) / few).toBeLessThan(3);
  await stolen.end();
});
