import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type Database, openDatabase } from '#db/client.ts';
import { listKycStates } from '#db/queries/kyc.ts';
import { queryCpKyc } from '#src/ingest/specs.ts';
import { KeyError } from '#src/sealing/errors.ts';
import type { KeyProvider, KeyRing } from '#src/sealing/key-provider.ts';
import { startRawServer } from '#test/support/application-server.ts';
import { addApplication } from '#test/support/factories.ts';
import { PLANTED, ringOf, store } from '#test/support/kyc.ts';
import { startFleet } from '#test/support/kyc-fleet.ts';
import { reseal } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const CONNECTIONS = 2;
const PULLS = 10;
const APPLICATION_NAME = 'a small pool';
const database = useTestDatabase();
let sql: Database;
let small: Database;

beforeAll(async () => {
  sql = database.sql;
  small = openDatabase(database.databaseUrl, { max: CONNECTIONS, applicationName: APPLICATION_NAME });
});
afterAll(async () => {
  await small.end();
});

/** A ring whose one key answers no call until it is released, and counts the calls. */
const slowRing = (id: string) => {
  const [key] = ringOf([id]).records as [KeyProvider];
  const calls = { wrap: 0, unwrap: 0 };
  const gates = { wrap: Promise.withResolvers<void>(), unwrap: Promise.withResolvers<void>() };
  const provider: KeyProvider = {
    key_id: key.key_id,
    wrap: async (...call) => {
      calls.wrap += 1;
      await gates.wrap.promise;
      return key.wrap(...call);
    },
    unwrap: async (...call) => {
      calls.unwrap += 1;
      await gates.unwrap.promise;
      return key.unwrap(...call);
    },
  };
  const release = (...what: (keyof typeof gates)[]) => {
    for (const one of what) gates[one].resolve();
  };
  onTestFinished(() => release('wrap', 'unwrap'));
  return { keys: { records: [provider], tokens: [] } satisfies KeyRing, calls, release };
};

/** The small pool's sessions in a transaction. */
const inTransaction = () => sql`
  select state from pg_stat_activity
  where application_name = ${APPLICATION_NAME} and datname = current_database() and xact_start is not null`;

const addApplications = async (count: number, webhook = 'http://127.0.0.1:9/kyc') => {
  await sql`truncate kyc_records, kyc_former_records, kyc_states, kyc_keys, content_providers`;
  await sql`delete from applications`;
  const ids = Array.from({ length: count }, (_, index) => `app-${index}`);
  for (const id of ids) await addApplication(sql, id, { query_cp_kyc_webhook: webhook }, ringOf(['k1']));
  return ids;
};

it('while many records wait for a key service, they occupy no connection of the pool', async () => {
  const ids = await addApplications(PULLS);
  await store(sql, ringOf(['k1']), 'app-0', PLANTED);
  const { keys, calls, release } = slowRing('k1');
  const changed = { ...PLANTED, opening_bank: 'Another Bank' };
  const stored = Promise.all(ids.map((id) => store(small, keys, id, changed)));

  await expect.poll(() => calls.unwrap).toBe(1);
  await expect.poll(inTransaction).toEqual([]);
  expect(await small`select 1 as answer`).toEqual([{ answer: 1 }]);

  release('unwrap');
  // Of two connections, ten wait for the key at once.
  await expect.poll(() => calls.wrap).toBe(PULLS);
  await expect.poll(inTransaction).toEqual([]);
  expect(await small`select 1 as answer`).toEqual([{ answer: 1 }]);
  // What waits has written nothing: no state, no mapping.
  expect(await sql`select application_id from content_providers`).toEqual([{ application_id: 'app-0' }]);

  release('wrap');
  expect(new Set(await stored)).toEqual(new Set(['sealed']));
});

it('a job whose key service does not respond occupies no connection', async () => {
  const server = await startRawServer((request, response) => {
    const answer = JSON.stringify({ ret_code: 0, ret_msg: 'success', data: PLANTED });
    request.resume().on('end', () => response.end(answer));
  });
  onTestFinished(() => server.close());
  await addApplications(PULLS, server.url);
  const { keys, calls, release } = slowRing('k1');
  const { databaseUrl } = database;
  const fleet = await startFleet('postgres', { sql: small, databaseUrl }, [queryCpKyc], keys);
  onTestFinished(() => {
    release('wrap', 'unwrap');
    return fleet.stop();
  });
  const ids = (await listKycStates(sql)).map(({ application_id }) => application_id);
  const finished = Promise.all(ids.map((application_id) => fleet.finish(queryCpKyc, { application_id })));

  // There is no fingerprint key yet: each job offers one.
  await expect.poll(() => calls.wrap).toBe(PULLS);
  await expect.poll(inTransaction).toEqual([]);
  expect(await small`select 1 as answer`).toEqual([{ answer: 1 }]);

  release('wrap', 'unwrap');
  expect(await finished).toEqual(ids.map(() => ({ result: { state: 'sealed' } })));
});

it('the fingerprint key is opened once as long as its wraps stay the same', async () => {
  const ids = await addApplications(3);
  await store(sql, ringOf(['k1']), 'app-0', PLANTED);
  const { keys, calls, release } = slowRing('k1');
  release('wrap', 'unwrap');
  for (const id of ids) await store(sql, keys, id, PLANTED);
  for (const id of ids) expect(await store(sql, keys, id, PLANTED)).toBe('unchanged');
  expect(calls).toEqual({ unwrap: 1, wrap: 2 });

  await reseal(sql, ringOf(['k2', 'k1']), { signal: new AbortController().signal });
  await expect(store(sql, keys, 'app-0', PLANTED)).rejects.toThrow('sealed under key k2');
  const both: KeyRing = { records: [...keys.records, ...ringOf(['k2']).records], tokens: [] };
  expect(await store(sql, both, 'app-0', PLANTED)).toBe('unchanged');
});

it('a key service that was down is called again', async () => {
  await addApplications(1);
  await store(sql, ringOf(['k1']), 'app-0', PLANTED);
  const [key] = ringOf(['k1']).records as [KeyProvider];
  let isDown = true;
  const unwrap: KeyProvider['unwrap'] = (...call) =>
    isDown ? Promise.reject(new KeyError('key_service', 'AWS KMS is down.')) : key.unwrap(...call);
  const keys: KeyRing = { records: [{ ...key, unwrap }], tokens: [] };
  await expect(store(sql, keys, 'app-0', PLANTED)).rejects.toThrow('is down');
  isDown = false;
  expect(await store(sql, keys, 'app-0', PLANTED)).toBe('unchanged');
});
