import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import type { Database } from '#db/client.ts';
import { listWrappedByOthers } from '#db/queries/wrapped-keys.ts';
import { KYC_SEALED_FIELDS, type KycRecord } from '#src/contract/application.ts';
import { changedFields, fieldFingerprints } from '#src/kyc/fingerprints.ts';
import { addApplication, KIM } from '#test/support/factories.ts';
import { keyBytes, PLANTED, ringOf, store } from '#test/support/kyc.ts';
import { acceptCpId, eraseKyc, reseal } from '#test/support/operate.ts';
import { useTestProducer } from '#test/support/queue.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const producer = useTestProducer(database);
let sql: Database;
beforeAll(() => {
  sql = database.sql;
});

const OLD = ringOf(['k1']);
const NEW = ringOf(['k2', 'k1']);
const { cp_id: _cp_id, ...FIELDS } = PLANTED;

/** The record with other values in these fields. */
const change = (record: KycRecord, fields: readonly string[], value: string): KycRecord => ({
  ...record,
  ...Object.fromEntries(fields.map((field) => [field, value])),
});

const changedOf = async (application_id: string): Promise<string[]> => {
  const [row] = await sql<{ changed_fields: string[] }[]>`
    select changed_fields from kyc_records where application_id = ${application_id}`;
  if (row === undefined) throw new Error('there is no record');
  return row.changed_fields;
};

const subsets = fc.subarray([...KYC_SEALED_FIELDS]);

it('the fingerprints tell exactly the fields that differ, for every pair of records', () => {
  const key = keyBytes('a fingerprint key');
  const record = fc.record(
    Object.fromEntries(KYC_SEALED_FIELDS.map((field) => [field, fc.string({ unit: 'grapheme' })])),
  ) as fc.Arbitrary<typeof FIELDS>;
  fc.assert(
    fc.property(record, subsets, fc.string(), (before, fields, value) => {
      const after = { ...before, ...Object.fromEntries(fields.map((field) => [field, value])) };
      const stored = { application_id: 'acme', record_id: 'r1' };
      const field_fingerprints = fieldFingerprints(key, stored, before);
      expect(changedFields(key, { ...stored, field_fingerprints }, after)).toEqual(
        KYC_SEALED_FIELDS.filter((field) => before[field] !== after[field]),
      );
    }),
  );
});

it('the worker stores them for every subset of fields, for records sealed by an old key too', async () => {
  await addApplication(sql, 'every-subset', {}, OLD);
  await store(sql, OLD, 'every-subset', PLANTED);
  expect(await changedOf('every-subset')).toEqual([]);
  let current: KycRecord = PLANTED;
  let count = 0;
  await fc.assert(
    fc.asyncProperty(subsets, fc.boolean(), async (fields, withNewKey) => {
      count += 1;
      const before = await changedOf('every-subset');
      current = change(current, fields, `value ${count}`);
      const outcome = await store(sql, withNewKey ? NEW : OLD, 'every-subset', current);
      expect(outcome).toBe(fields.length === 0 ? 'unchanged' : 'sealed');
      expect(await changedOf('every-subset')).toEqual(
        fields.length === 0 ? before : KYC_SEALED_FIELDS.filter((field) => fields.includes(field)),
      );
    }),
    { numRuns: 40 },
  );
  // Each former version keeps what it changed.
  const former = await sql<{ changed_fields: string[] }[]>`
    select changed_fields from kyc_former_records where application_id = 'every-subset' order by received_at limit 1`;
  expect(former).toEqual([{ changed_fields: [] }]);
});

it('they are right after a reseal, by a worker that has the new key alone', async () => {
  await addApplication(sql, 'resealed', {}, OLD);
  await store(sql, OLD, 'resealed', PLANTED);
  await reseal(sql, NEW, { signal: new AbortController().signal });
  expect(await listWrappedByOthers(sql, 'kyc_records', { key_id: 'k2', after: null, limit: 9 })).toEqual([]);
  await store(sql, ringOf(['k2']), 'resealed', change(PLANTED, ['tax_id', 'opening_bank'], 'another'));
  expect(await changedOf('resealed')).toEqual(['tax_id', 'opening_bank']);
});

it('an accepted cp_id is named, and a record after an erasure is a first one', async () => {
  await addApplication(sql, 'moved', {}, NEW);
  await store(sql, NEW, 'moved', PLANTED);
  const moved = { ...change(PLANTED, ['cp_name'], 'another'), cp_id: 'cp-second' };
  expect(await store(sql, NEW, 'moved', moved)).toBe('cp_id_changed');
  await acceptCpId({ sql, producer }, 'moved', KIM, 'cp-second');
  await store(sql, NEW, 'moved', moved);
  expect(await changedOf('moved')).toEqual(['cp_id', 'cp_name']);
  await eraseKyc(sql, 'moved', { ...KIM, reason: 'request' });
  await sql`update kyc_states set state = 'pending' where application_id = 'moved'`;
  await store(sql, NEW, 'moved', moved);
  expect(await changedOf('moved')).toEqual([]);
});

it('a dump does not tell which values are equal: not of two fields, two applications, or two versions', async () => {
  const same = change(PLANTED, KYC_SEALED_FIELDS, 'one value for every field');
  for (const application_id of ['twin-a', 'twin-b']) {
    await addApplication(sql, application_id, {}, NEW);
    await store(sql, NEW, application_id, same);
  }
  const read = () =>
    sql<{ field_fingerprints: Uint8Array }[]>`
      select field_fingerprints from kyc_records where application_id like 'twin-%' order by application_id`;
  const parts = (rows: { field_fingerprints: Uint8Array }[]) =>
    rows.flatMap(({ field_fingerprints }) => {
      const hex = Buffer.from(field_fingerprints).toString('hex');
      return hex.match(/.{32}/g) ?? [];
    });
  const first = parts(await read());
  await store(sql, NEW, 'twin-a', change(same, ['tax_id'], 'another'));
  await store(sql, NEW, 'twin-a', same);
  const all = [...first, ...parts((await read()).slice(0, 1))];
  expect(all).toHaveLength(27);
  expect(new Set(all).size).toBe(27);
});
