import { expect, test } from 'vitest';
import { findKycRecord } from '#db/queries/kyc.ts';
import { readVerdictWaitMs } from '#db/queries/verdicts.ts';
import { readWaiting } from '#src/kyc-desk/pages/parts.ts';
import { giveVerdict } from '#src/operations/verdicts.ts';
import { addApplication, KIM } from '#test/support/factories.ts';
import { PLANTED, ringOf, store } from '#test/support/kyc.ts';
import { operateAs } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const keys = ringOf(['k1']);

const ALONE = { fourEyes: { kinds: [], onceTwo: false } } as const;
const HOUR_MS = 60 * 60_000;

const pull = async (id: string, tax_id = id): Promise<void> => {
  await store(database.sql, keys, id, { ...PLANTED, tax_id });
};
const decide = async (application_id: string): Promise<void> => {
  const record_id = (await findKycRecord(database.sql, application_id))?.record_id ?? '';
  const given = { application_id, record_id, verdict: 'verified', reason: 'a look' } as const;
  await operateAs(database.sql, KIM, giveVerdict, given, ALONE);
};

test('records that changed after a verdict come first, however many others wait for longer', async () => {
  const { sql } = database;
  expect(await readVerdictWaitMs(sql)).toBeNull();
  for (const id of ['a', 'b', 'c', 'changed', 'decided']) {
    await addApplication(sql, id, {}, keys);
    await pull(id);
  }
  await sql`update kyc_records set received_at = received_at - interval '3 hours' where application_id = 'decided'`;
  await sql`update kyc_records set received_at = received_at - interval '1 hour' where application_id = 'changed'`;
  for (const id of ['changed', 'decided']) await decide(id);
  await pull('changed', 'another');
  const waiting = async (limit: number) =>
    (await readWaiting({ sql, producer: () => Promise.reject() }, limit)).map(
      ({ application_id }) => application_id,
    );
  expect(await waiting(2)).toEqual(['changed', 'a']);
  expect(await waiting(9)).toEqual(['changed', 'a', 'b', 'c']);

  // The median of one hour and three. A verdict in place of one that stands ends no wait.
  await decide('decided');
  expect(await readVerdictWaitMs(sql)).toBeCloseTo(2 * HOUR_MS, -5);
});
