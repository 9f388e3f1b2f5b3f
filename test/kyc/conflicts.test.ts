import { beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import type { Database, Queryable } from '#db/client.ts';
import { findKycRecord, findKycState, type KycRecordRow } from '#db/queries/kyc.ts';
import { queryCpKyc } from '#src/ingest/specs.ts';
import { openKycRecord } from '#src/kyc/record.ts';
import { KycConflictError } from '#src/kyc/store-record.ts';
import type { KeyProvider } from '#src/sealing/key-provider.ts';
import { startRawServer } from '#test/support/application-server.ts';
import { addApplication } from '#test/support/factories.ts';
import { PLANTED, ringOf, store, storeOnce } from '#test/support/kyc.ts';
import { startFleet } from '#test/support/kyc-fleet.ts';
import { reseal } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const signal = new AbortController().signal;
const CHANGED = { ...PLANTED, opening_bank: 'Another Bank' };
const database = useTestDatabase();
let sql: Database;

beforeAll(() => {
  sql = database.sql;
});
beforeEach(async () => {
  await sql`truncate kyc_records, kyc_former_records, kyc_states, kyc_keys, content_providers, ingest_failures`;
  await sql`delete from applications`;
});

const openStored = async (ids: string[]) =>
  openKycRecord(ringOf(ids), (await findKycRecord(sql, 'acme')) as KycRecordRow);
const pullNow = async () => ({
  application_id: 'acme',
  pulled_at: (await findKycState(sql, 'acme'))?.now ?? new Date(0),
});

/** Lock the KYC state of acme, wait until a store waits for it, make a change, and release it. */
const changeUnder = async (storing: () => Promise<unknown>, change: (tx: Queryable) => Promise<unknown>) => {
  const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  onTestFinished(() => release());
  const changing = sql.begin(async (tx) => {
    await tx`select from kyc_states where application_id = 'acme' for update`;
    lock();
    await released;
    await change(tx);
  });
  await locked;
  const stored = storing();
  const waiting = () => sql`
    select 1 from pg_locks l join pg_stat_activity a using (pid)
    where not l.granted and a.datname = current_database()`;
  await expect.poll(waiting).toHaveLength(1);
  release();
  // Whichever ends first: a refusal that nothing awaits yet would fail the run.
  const [result] = await Promise.all([stored, changing]);
  return result;
};

it('a record that was sealed before a reseal is not stored after it', async () => {
  await addApplication(sql, 'acme', {}, ringOf(['k1']));
  await store(sql, ringOf(['k1']), 'acme', PLANTED);
  const [k1] = ringOf(['k1']).records as [KeyProvider];
  const interrupted: KeyProvider = {
    ...k1,
    wrap: async (...given) => {
      const wrapped = await k1.wrap(...given);
      await reseal(sql, ringOf(['k2', 'k1']), { signal });
      return wrapped;
    },
  };
  const before = await findKycState(sql, 'acme');
  const storing = storeOnce(sql, { records: [interrupted], tokens: [] }, await pullNow(), CHANGED);
  await expect(storing).rejects.toThrow(KycConflictError);
  expect(await openStored(['k2'])).toMatchObject({ opening_bank: PLANTED.opening_bank });
  expect(await findKycState(sql, 'acme')).toEqual({ ...before, now: expect.any(Date) });
  expect(await sql`select 1 from kyc_former_records`).toHaveLength(0);
});

it('a response equal to a record that then changes is not taken as unchanged', async () => {
  const keys = ringOf(['k1']);
  await addApplication(sql, 'acme', {}, keys);
  await store(sql, keys, 'acme', PLANTED);
  const before = await findKycState(sql, 'acme');
  const pull = await pullNow();
  const stored = changeUnder(
    () => storeOnce(sql, keys, pull, PLANTED),
    // As another pull does, which began a moment before.
    (tx) => tx`
      with replaced as (update kyc_records set fingerprint = '\\x00')
      update kyc_states set pulled_at = pulled_at + interval '1 millisecond'`,
  );
  await expect(stored).rejects.toThrow(KycConflictError);
  const pulled_at = new Date((before?.pulled_at?.getTime() ?? 0) + 1);
  expect(await findKycState(sql, 'acme')).toEqual({ ...before, pulled_at, now: expect.any(Date) });
  expect(await store(sql, keys, 'acme', PLANTED)).toBe('sealed');
});

it('a response with another cp_id that is accepted meanwhile is not stored unsealed', async () => {
  const keys = ringOf(['k1']);
  await addApplication(sql, 'acme', {}, keys);
  await store(sql, keys, 'acme', PLANTED);
  const pull = await pullNow();
  const stored = changeUnder(
    () => storeOnce(sql, keys, pull, { ...CHANGED, cp_id: 'cp-other' }),
    (tx) => tx`update content_providers set application_cp_id = 'cp-other'`,
  );
  await expect(stored).rejects.toThrow(KycConflictError);
  expect(await openStored(['k1'])).toMatchObject({ opening_bank: PLANTED.opening_bank });
});

it('the job calls the application again after a conflict, and stores the record', async () => {
  let calls = 0;
  const server = await startRawServer(async (request, response) => {
    await request.toArray();
    calls += 1;
    if (calls === 1) await reseal(sql, ringOf(['k2', 'k1']), { signal });
    response.end(JSON.stringify({ ret_code: 0, ret_msg: 'success', data: CHANGED }));
  });
  onTestFinished(() => server.close());
  await addApplication(sql, 'acme', { query_cp_kyc_webhook: server.url }, ringOf(['k1']));
  await store(sql, ringOf(['k1']), 'acme', PLANTED);
  const hasty = { ...queryCpKyc, options: { ...queryCpKyc.options, backoffMs: 1 } };
  const { databaseUrl } = database;
  const fleet = await startFleet('postgres', { sql, databaseUrl }, [hasty], ringOf(['k2', 'k1']));
  onTestFinished(() => fleet.stop());
  expect(await fleet.finish(hasty, { application_id: 'acme' })).toEqual({ result: { state: 'sealed' } });
  expect(calls).toBe(2);
  expect(await openStored(['k2'])).toMatchObject({ opening_bank: 'Another Bank' });
});
