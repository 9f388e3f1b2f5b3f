import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Database } from '#db/client.ts';
import {
  type ApplicationRow,
  findApplication,
  listApplications,
  updateApplication,
} from '#db/queries/applications.ts';
import { findKycRecord, findKycState, type KycRecordRow } from '#db/queries/kyc.ts';
import { kycRecord, openKycRecord } from '#src/kyc/record.ts';
import { openAccessToken, sealAccessToken } from '#src/sealing/access-token.ts';
import { createEventBox, readSealingRing } from '#src/sealing/event-box.ts';
import { type KeyProvider, wrapDataKey } from '#src/sealing/key-provider.ts';
import { runCli } from '#test/support/cli.ts';
import { ACCESS_TOKEN, addApplication } from '#test/support/factories.ts';
import { aHome, keyErrorOf, keysText, PLANTED, ringOf, store } from '#test/support/kyc.ts';
import { reseal } from '#test/support/operate.ts';
import { asOperator } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const live = new AbortController().signal;
const database = useTestDatabase();
let sql: Database;
beforeAll(() => {
  sql = database.sql;
});

describe('reseal', () => {
  it('rewraps every data key by the first key alone, and nothing else', async () => {
    const keys = ringOf(['k1']);
    // The installation sealed the token before ENCRYPTION_KEYS was set.
    const own = ringOf([], 'home-aaaaaaaa');
    await addApplication(sql, 'acme', {}, own);
    await store(sql, keys, 'acme', PLANTED);
    const [token, record] = [await listApplications(sql), await findKycRecord(sql, 'acme')];
    const onProgress: [number, number][] = [];
    const report = await reseal(sql, ringOf(['k2', 'k1'], 'home-aaaaaaaa'), {
      signal: live,
      onProgress: (done, total) => onProgress.push([done, total]),
    });
    expect(report).toEqual({ key_id: 'k2', rewrapped: 3, failed: [] });
    expect(onProgress.at(-1)).toEqual([3, 3]);
    const { data_keys: _old, ...sealedBefore } = record as KycRecordRow;
    const { data_keys, ...sealedAfter } = (await findKycRecord(sql, 'acme')) as KycRecordRow;
    expect(sealedAfter).toEqual(sealedBefore);
    expect(data_keys.map(({ key_id }) => key_id)).toEqual(['k2']);
    const [application] = (await listApplications(sql)) as [ApplicationRow];
    expect(application.access_token).toEqual(token[0]?.access_token);
    expect(application.access_token_keys.map(({ key_id }) => key_id)).toEqual(['k2']);
    expect(await openAccessToken(ringOf(['k2']), application)).toBe(ACCESS_TOKEN);
    expect((await keyErrorOf(() => openAccessToken(own, application))).code).toBe('unknown_key');
    expect(await reseal(sql, ringOf(['k2', 'k1']), { signal: live })).toMatchObject({
      rewrapped: 0,
    });
  });

  it('shuts out a worker that has not got the new key yet, rather than let it seal behind its back', async () => {
    const { code } = await keyErrorOf(() =>
      store(sql, ringOf(['k1']), 'acme', { ...PLANTED, tax_id: 'NEW' }),
    );
    expect(code).toBe('unknown_key');
  });

  it("moves records from the installation's own key to a ring that was set later", async () => {
    const own = ringOf([], 'home-cccccccc');
    await sql`truncate kyc_records, kyc_keys, kyc_states, content_providers, kyc_former_records`;
    await store(sql, own, 'acme', PLANTED);
    await sql`update applications set access_token_keys = '[]', access_token = null`;
    expect(await reseal(sql, ringOf(['k3'], 'home-cccccccc'), { signal: live })).toMatchObject({
      rewrapped: 2,
    });
    expect(
      (await openKycRecord(ringOf(['k3']), (await findKycRecord(sql, 'acme')) as KycRecordRow)).tax_id,
    ).toBe(PLANTED.tax_id);
  });

  it('names what does not open, reseals the rest, and ends with exit 3', async () => {
    const keys = ringOf(['k3']);
    await addApplication(sql, 'bolt', {}, keys);
    await store(sql, keys, 'bolt', PLANTED);
    await sql`update kyc_records set data_keys = jsonb_set(data_keys, '{0,wrapped}', '"AQAA"') where application_id = 'acme'`;
    const { record_id } = (await findKycRecord(sql, 'acme')) as KycRecordRow;
    const env = {
      ...asOperator(database.databaseUrl),
      ENCRYPTION_KEYS: keysText('k4', 'k3'),
      CATALOGUE_HOME: await aHome(),
    };
    const result = await runCli(['kyc', 'reseal', '--json'], env);
    expect(result.exit).toBe(3);
    expect(JSON.parse(result.stdout)).toEqual({
      key_id: 'k4',
      rewrapped: 3,
      failed: [{ table: 'kyc_records', id: record_id, application_id: 'acme', code: 'does_not_open' }],
    });
    const { exit, stdout } = await runCli(['kyc', 'reseal'], env);
    expect(exit).toBe(3);
    expect(stdout).toMatch(new RegExp(`^kyc_records +acme +${record_id} +does_not_open$`, 'm'));
    expect(await findKycState(sql, 'bolt')).toMatchObject({ state: 'sealed' });
  });

  it('leaves what a worker writes meanwhile as it is, and comes back for what was written behind it', async () => {
    const [k6, k4] = ringOf(['k6', 'k4']).records as [KeyProvider, KeyProvider];
    let meanwhile = async () => {
      meanwhile = async () => {};
      const bolt = (await findApplication(sql, 'bolt')) as ApplicationRow;
      const renewed = await sealAccessToken(ringOf(['k6']), bolt, 'renewed-token');
      await updateApplication(sql, 'bolt', renewed);
      await addApplication(sql, 'aaa', {}, ringOf(['k4']));
    };
    const interrupted: KeyProvider = {
      ...k4,
      unwrap: async (wrapped, record) => {
        const dataKey = await k4.unwrap(wrapped, record);
        if (record.record_id === 'bolt') await meanwhile();
        return dataKey;
      },
    };
    await sql`delete from kyc_records where application_id = 'acme'`;
    const report = await reseal(sql, { records: [k6, interrupted], tokens: [k6] }, { signal: live });
    expect(report.failed).toEqual([]);
    const tokens = (await listApplications(sql)).filter(({ access_token }) => access_token !== null);
    const opened = tokens.map(async (row) => [
      row.application_id,
      await openAccessToken(ringOf(['k6']), row),
    ]);
    expect(Object.fromEntries(await Promise.all(opened))).toEqual({
      aaa: ACCESS_TOKEN,
      bolt: 'renewed-token',
    });
  });

  const waiting = () =>
    sql`select 1 from pg_locks l join pg_stat_activity a using (pid) where not l.granted and a.datname = current_database()`;

  it('waits for a record that is being written under the old key, and takes it along', async () => {
    const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    onTestFinished(() => release());
    // The record's writing stops at its former versions, with the fingerprint key locked.
    const locking = sql.begin(async (tx) => {
      await tx`lock table kyc_former_records in exclusive mode`;
      lock();
      await released;
    });
    await locked;
    const storing = store(sql, ringOf(['k6']), 'aaa', PLANTED);
    await expect.poll(waiting).toHaveLength(1);
    const resealing = reseal(sql, ringOf(['k7', 'k6']), { signal: live });
    await expect.poll(waiting).toHaveLength(2);
    release();
    await locking;
    expect(await storing).toBe('sealed');
    await resealing;
    const row = (await findKycRecord(sql, 'aaa')) as KycRecordRow;
    expect(row.data_keys.map(({ key_id }) => key_id)).toEqual(['k7']);
  });

  it.each([
    ['is sealed again by a process that has the new key', ['k7', 'k8'], 'sealed'],
    ['is not stored by one that lacks it', ['k8'], 'unknown_key'],
  ])('does not wait for a record that is being sealed, which %s', async (_title, ids, outcome) => {
    await addApplication(sql, 'cork', {}, ringOf(['k7']));
    await sql`delete from kyc_records where application_id = 'cork'`;
    await reseal(sql, ringOf(['k8', 'k7']), { signal: live });
    const others = ringOf(ids).records.filter(({ key_id }) => key_id !== 'k8');
    const [k8] = ringOf(['k8']).records as [KeyProvider];
    let sealed = 0;
    const overtaken: KeyProvider = {
      ...k8,
      wrap: async (dataKey, record) => {
        sealed += 1;
        if (sealed === 1) await reseal(sql, ringOf(['k7', 'k8']), { signal: live });
        return k8.wrap(dataKey, record);
      },
    };
    const storing = store(sql, { records: [overtaken, ...others], tokens: [] }, 'cork', PLANTED);
    if (outcome === 'sealed') {
      expect(await storing).toBe(outcome);
      expect(sealed).toBe(2);
      expect(await findKycRecord(sql, 'cork')).toBeDefined();
    } else {
      expect((await keyErrorOf(() => storing)).code).toBe(outcome);
      expect(await findKycRecord(sql, 'cork')).toBeUndefined();
    }
  });

  it('wraps nothing by keys that are not of this catalogue, though the installation opens its tokens itself', async () => {
    const tokens = () => sql`select application_id, access_token_keys from applications order by 1`;
    await addApplication(sql, 'delta', {}, ringOf(['k7'], 'home-dddddddd'));
    const before = await tokens();
    const wrong = ringOf(['k9'], 'home-dddddddd');
    expect((await keyErrorOf(() => reseal(sql, wrong, { signal: live }))).code).toBe('unknown_key');
    expect(await tokens()).toEqual(before);
  });

  it('wraps no record that somebody without a key sealed to the public key of event secrets', async () => {
    const keys = ringOf(['k8', 'k7']);
    await createEventBox(sql, keys);
    await sql`delete from kyc_records`;
    await addApplication(sql, 'forged', {}, keys);
    await store(sql, keys, 'forged', PLANTED);
    const { record_id } = (await findKycRecord(sql, 'forged')) as KycRecordRow;
    const { tokens } = await readSealingRing(sql);
    const wraps = await wrapDataKey(tokens, randomBytes(32), kycRecord('forged', record_id));
    await sql`update kyc_records set data_keys = ${sql.json(wraps)}`;
    const { failed } = await reseal(sql, keys, { signal: live });
    expect(failed).toContainEqual({
      ...{ table: 'kyc_records', id: record_id, application_id: 'forged' },
      code: 'unknown_key',
    });
  });

  it('stops when it is aborted, and says how to continue', async () => {
    await expect(reseal(sql, ringOf(['k8', 'k7']), { signal: AbortSignal.abort() })).rejects.toThrow(
      'Continue with: npx catalogue kyc reseal',
    );
    expect((await keyErrorOf(() => reseal(sql, ringOf([]), { signal: live }))).code).toBe('no_key');
  });
});
