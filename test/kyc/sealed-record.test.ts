import { beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '#db/client.ts';
import { findContentProvider, findKycRecord } from '#db/queries/kyc.ts';
import { showKyc } from '#src/kyc/read-record.ts';
import { openKycRecord } from '#src/kyc/record.ts';
import { useKycApplications } from '#test/kyc/kyc-applications.ts';
import { keyErrorOf, PLANTED, ringOf, store } from '#test/support/kyc.ts';

const { database, keys, anApplication, rowOf } = useKycApplications();
let sql: Database;

beforeAll(() => {
  sql = database.sql;
});

const { cp_id: _cp_id, ...FIELDS } = PLANTED;

describe('fingerprints', () => {
  it('tell that two applications have the same company, however its tax id is written', async () => {
    const [a, b, c] = [await anApplication(), await anApplication(), await anApplication()];
    await store(sql, keys, a, { ...PLANTED, tax_id: 'DE 987-654/x' });
    await store(sql, keys, b, { ...PLANTED, tax_id: 'de987654X' });
    await store(sql, keys, c, { ...PLANTED, tax_id: '-' });
    expect((await showKyc(sql, keys, a)).same_tax_id).toEqual([b]);
    expect((await rowOf(c)).tax_id_fingerprint).toBeNull();
    expect((await showKyc(sql, keys, c)).same_tax_id).toEqual([]);
  });

  it('do not tell that two applications sent the same record', async () => {
    const [a, b] = [await anApplication(), await anApplication()];
    await store(sql, keys, a, PLANTED);
    await store(sql, keys, b, PLANTED);
    expect((await rowOf(a)).fingerprint).not.toEqual((await rowOf(b)).fingerprint);
  });
});

describe('a record in the database', () => {
  const swap = async (columns: string[], ids: [string, string]) => {
    const [a, b] = [await rowOf(ids[0]), await rowOf(ids[1])] as [
      Record<string, unknown>,
      Record<string, unknown>,
    ];
    const taken = Object.fromEntries(columns.map((column) => [column, b[column]]));
    return openKycRecord(keys, { ...a, ...taken } as never);
  };

  it.each([
    ['one sealed column of another row', ['tax_id']],
    ['the data key of another row', ['data_keys']],
    ['everything but its record id', ['data_keys', ...Object.keys(FIELDS)]],
    ['the whole row of another application', ['record_id', 'data_keys', ...Object.keys(FIELDS)]],
  ])('does not open with %s', async (_title, columns) => {
    const [a, b] = [await anApplication(), await anApplication()];
    await store(sql, keys, a, PLANTED);
    await store(sql, keys, b, PLANTED);
    const { code, message } = await keyErrorOf(() => swap(columns, [a, b]));
    expect(code).toBe('does_not_open');
    expect(message).toContain(a);
    for (const value of Object.values(PLANTED)) expect(message).not.toContain(value);
  });

  it('does not open with two of its columns exchanged', async () => {
    const app = await anApplication();
    await store(sql, keys, app, PLANTED);
    const row = await rowOf(app);
    const exchanged = { ...row, id_number: row.tax_id, tax_id: row.id_number };
    expect((await keyErrorOf(() => openKycRecord(keys, exchanged))).message).toContain(
      'kyc_records.id_number',
    );
  });

  it('is not sealed by a process whose keys do not open the fingerprint key', async () => {
    const app = await anApplication();
    for (const [ring, code] of [
      [ringOf(['k2']), 'unknown_key'],
      [ringOf([]), 'unknown_key'],
      [ringOf([], 'home-12345678'), 'unknown_key'],
      [{ records: [{ ...ringOf(['k2']).records[0], key_id: 'k1' }], tokens: [] }, 'does_not_open'],
    ] as const) {
      expect((await keyErrorOf(() => store(sql, ring as never, app, PLANTED))).code).toBe(code);
    }
    expect(await findKycRecord(sql, app)).toBeUndefined();
    expect(await findContentProvider(sql, app)).toBeUndefined();
  });
});
