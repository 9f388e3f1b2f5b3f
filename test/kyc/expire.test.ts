import { beforeAll, expect, it } from 'vitest';
import type { Database } from '#db/client.ts';
import { listAudit } from '#db/queries/audit.ts';
import { findKycState, lockKycState } from '#db/queries/kyc.ts';
import { prune } from '#src/ingest/specs.ts';
import { recordSealed } from '#src/kyc/record-sealed.ts';
import { expireRemovedRecords } from '#src/operations/kyc-retention.ts';
import { addApplication } from '#test/support/factories.ts';
import { PLANTED, ringOf, store } from '#test/support/kyc.ts';
import { startFleet } from '#test/support/kyc-fleet.ts';
import { removeApplication } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

const database = useTestDatabase();
const keys = ringOf(['k1']);
let sql: Database;
beforeAll(() => {
  sql = database.sql;
});

const versions = async (application_id: string) => {
  const [row] = await sql<{ current: number; former: number }[]>`
    select (select count(*)::int from kyc_records where application_id = ${application_id}) as current,
           (select count(*)::int from kyc_former_records where application_id = ${application_id}) as former`;
  return row;
};
const expired = (application_id: string) =>
  listAudit(sql, { subject: `application:${application_id}`, action: 'kyc.expire', limit: 9 });

/** The job, as the worker runs it: with a retention of one day. */
const runPrune = async () => {
  const fleet = await startFleet('postgres', database, [prune], keys);
  try {
    return await fleet.finish(prune, {});
  } finally {
    await fleet.stop();
  }
};

it('prune deletes old former versions and the records of removed applications, and the audit log says so', async () => {
  for (const id of ['kept', 'removed', 'just-removed']) {
    await addApplication(sql, id, {}, keys);
    await store(sql, keys, id, PLANTED);
    await store(sql, keys, id, { ...PLANTED, cp_name: 'Second' });
    await store(sql, keys, id, { ...PLANTED, cp_name: 'Third' });
  }
  await sql`
    update kyc_former_records set replaced_at = now() - interval '25 hours'
    where record_id = (select record_id from kyc_former_records where application_id = 'kept'
                       order by replaced_at limit 1)`;
  for (const id of ['removed', 'just-removed']) await removeApplication(sql, id);
  await sql`update applications set updated_at = now() - interval '25 hours' where application_id = 'removed'`;

  expect(await runPrune()).toMatchObject({ result: { records: 1, removed: 1 } });
  expect(await versions('kept')).toEqual({ current: 1, former: 1 });
  expect(await versions('removed')).toEqual({ current: 0, former: 0 });
  expect(await versions('just-removed')).toEqual({ current: 1, former: 2 });
  expect(await findKycState(sql, 'removed')).toMatchObject({ state: 'erased' });
  expect(await expired('kept')).toMatchObject([
    { actor: 'prune', actor_kind: 'system', reason: 'KYC_KEEP_FORMER', details: { versions: 1 } },
  ]);
  expect(await expired('removed')).toMatchObject([{ reason: 'KYC_KEEP_REMOVED', details: { versions: 3 } }]);
  expect(await runPrune()).toMatchObject({ result: { records: 0, removed: 0 } });
});

it('a removed application that is added again while prune runs keeps its new record', async () => {
  // In the order in which prune takes them.
  const [before, again] = ['again-a', 'again-b'];
  for (const id of [before, again]) {
    await addApplication(sql, id, {}, keys);
    await store(sql, keys, id, PLANTED);
    await removeApplication(sql, id);
    await sql`update applications set updated_at = now() - interval '25 hours' where application_id = ${id}`;
  }
  const isLocked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const lock = sql.begin(async (tx) => {
    await lockKycState(tx, before);
    isLocked.resolve();
    await gate.promise;
  });
  await isLocked.promise;
  const pruning = expireRemovedRecords(sql, 86_400_000, new AbortController().signal);
  await until('prune waits for the first application', async () => {
    const [waiting] = await sql`
      select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%kyc_states%'`;
    return waiting !== undefined;
  });
  await addApplication(sql, again, {}, keys);
  await store(sql, keys, again, { ...PLANTED, cp_name: 'Registered again' });
  gate.resolve();
  await lock;
  expect(await pruning).toBe(1);
  expect(await versions(before)).toEqual({ current: 0, former: 0 });
  expect(await versions(again)).toEqual({ current: 1, former: 1 });
  expect(await findKycState(sql, again)).toMatchObject({ state: 'sealed' });
  expect(await expired(again)).toEqual([]);
});

it('records expire although another step of prune fails, or the record of another application', async () => {
  const [broken, old] = ['fails-a', 'fails-b'];
  for (const id of [broken, old]) {
    await addApplication(sql, id, {}, keys);
    await store(sql, keys, id, PLANTED);
    await removeApplication(sql, id);
    await sql`update applications set updated_at = now() - interval '25 hours' where application_id = ${id}`;
  }
  await sql.unsafe(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'refused' using errcode = tg_argv[0]; end $$;
    create trigger refuse before delete on kyc_records for each row
      when (old.application_id = '${broken}') execute function refuse('TS001');
    create trigger refuse before delete on sync_run_pages execute function refuse('TS002')`);
  expect(await runPrune()).toEqual({ failed: 'PostgresError TS001' });
  expect([await versions(broken), await versions(old)]).toMatchObject([{ current: 1 }, { current: 0 }]);
  await sql`drop trigger refuse on kyc_records`;
  expect(await runPrune()).toEqual({ failed: 'PostgresError TS002' });
  expect(await versions(broken)).toMatchObject({ current: 0 });
  await sql`drop trigger refuse on sync_run_pages`;
  expect(await runPrune()).toMatchObject({ result: { pages: 0, removed: 0 } });
});

it('a stored record is published with its ids alone, and an unchanged one is not', async () => {
  const published: unknown[] = [];
  const end = recordSealed.subscribe((ids) => published.push(ids));
  try {
    await addApplication(sql, 'published', {}, keys);
    await store(sql, keys, 'published', PLANTED);
    await store(sql, keys, 'published', PLANTED);
    const [row] =
      await sql`select application_id, record_id from kyc_records where application_id = 'published'`;
    expect(published).toEqual([row]);
  } finally {
    end();
  }
});
