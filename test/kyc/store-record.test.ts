import { beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '#db/client.ts';
import { findContentProvider, findKycRecord, findKycState, listKycStates } from '#db/queries/kyc.ts';
import { openKycRecord } from '#src/kyc/record.ts';
import { recordKycFailure } from '#src/kyc/store-record.ts';
import { useKycApplications } from '#test/kyc/kyc-applications.ts';
import { KIM } from '#test/support/factories.ts';
import { PLANTED, store, storeOnce } from '#test/support/kyc.ts';
import { acceptCpId, eraseKyc, removeApplication } from '#test/support/operate.ts';
import { useTestProducer } from '#test/support/queue.ts';
import { listFailures } from '#test/support/stored-rows.ts';

const { database, keys, anApplication, rowOf } = useKycApplications();
const producer = useTestProducer(database);
let sql: Database;

beforeAll(() => {
  sql = database.sql;
});

const stateOf = async (application_id: string) => (await findKycState(sql, application_id))?.state;
const { cp_id: _cp_id, ...FIELDS } = PLANTED;

describe('a response of cp.queryKYC', () => {
  it('that comes after its application was removed leaves nothing, nor does a failure', async () => {
    const app = await anApplication();
    const pull = { application_id: app, pulled_at: new Date() };
    await removeApplication(sql, app);
    expect(await storeOnce(sql, keys, pull, PLANTED)).toBe('overtaken');
    expect(await recordKycFailure(sql, pull, { kind: 'timeout', reasons: [] })).toBe(false);
    expect(await findKycRecord(sql, app)).toBeUndefined();
    expect(await listFailures(sql, { application_id: app, limit: 9 })).toEqual([]);
  });

  it('is stored sealed, its cp_id mapped to one of the platform', async () => {
    const app = await anApplication();
    expect(await stateOf(app)).toBe('pending');
    expect(await store(sql, keys, app, PLANTED)).toBe('sealed');
    expect(await openKycRecord(keys, await rowOf(app))).toEqual(FIELDS);
    const provider = await findContentProvider(sql, app);
    expect(provider).toMatchObject({ application_cp_id: PLANTED.cp_id });
    expect((await rowOf(app)).cp_id).toBe(provider?.cp_id);
    expect(await stateOf(app)).toBe('sealed');
    expect(await listKycStates(sql)).toContainEqual({ application_id: app, state: 'sealed' });
  });

  it('is not written again when nothing changed', async () => {
    const app = await anApplication();
    await store(sql, keys, app, PLANTED);
    const before = await sql`select xmin::text, * from kyc_records where application_id = ${app}`;
    expect(await store(sql, keys, app, { ...PLANTED })).toBe('unchanged');
    expect(await sql`select xmin::text, * from kyc_records where application_id = ${app}`).toEqual(before);
  });

  it('keeps the former version, sealed as it was, when a field changed', async () => {
    const app = await anApplication();
    await store(sql, keys, app, PLANTED);
    const former = await rowOf(app);
    expect(await store(sql, keys, app, { ...PLANTED, opening_bank: 'Another Bank' })).toBe('sealed');
    expect((await openKycRecord(keys, await rowOf(app))).opening_bank).toBe('Another Bank');
    const kept = await sql`select * from kyc_former_records where application_id = ${app}`;
    expect(kept).toHaveLength(1);
    expect(kept[0]).toMatchObject({ record_id: former.record_id, opening_bank: former.opening_bank });
    expect(await openKycRecord(keys, kept[0] as never)).toEqual(FIELDS);
  });

  it('without data is noted, and the record before it is kept', async () => {
    const app = await anApplication();
    await store(sql, keys, app, PLANTED);
    expect(await store(sql, keys, app, null)).toBe('not_provided');
    expect(await stateOf(app)).toBe('not_provided');
    expect(await openKycRecord(keys, await rowOf(app))).toEqual(FIELDS);
    expect(await store(sql, keys, app, PLANTED)).toBe('unchanged');
    expect(await stateOf(app)).toBe('sealed');
  });

  it('that is older than what is there changes nothing', async () => {
    const app = await anApplication();
    const early = (await findKycState(sql, app))?.now ?? new Date(0);
    await store(sql, keys, app, PLANTED);
    const pull = { application_id: app, pulled_at: early };
    expect(await storeOnce(sql, keys, pull, { ...PLANTED, tax_id: 'old' })).toBe('overtaken');
    expect(await recordKycFailure(sql, pull, { kind: 'timeout', reasons: [] })).toBe(false);
    expect(await stateOf(app)).toBe('sealed');
    expect(await openKycRecord(keys, await rowOf(app))).toEqual(FIELDS);
  });

  it('lands once when twenty workers bring it at the same moment', async () => {
    const app = await anApplication();
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => store(sql, keys, app, PLANTED)));
    expect(outcomes.filter((outcome) => outcome === 'sealed')).toHaveLength(1);
    expect(await sql`select 1 from kyc_former_records where application_id = ${app}`).toHaveLength(0);
  });
});

describe('another cp_id', () => {
  const OTHER = { ...PLANTED, cp_id: 'cp-other', tax_id: 'OTHER-1' };

  it('is refused and flagged until an operator accepts it', async () => {
    const app = await anApplication();
    await store(sql, keys, app, PLANTED);
    expect(await store(sql, keys, app, OTHER)).toBe('cp_id_changed');
    expect(await findKycState(sql, app)).toMatchObject({ state: 'cp_id_changed', refused_cp_id: 'cp-other' });
    expect(await openKycRecord(keys, await rowOf(app))).toEqual(FIELDS);
    expect(await listFailures(sql, { application_id: app, limit: 9 })).toMatchObject([
      { operation: 'query_cp_kyc', kind: 'cp_id_changed', reasons: [{ path: 'cp_id', code: 'changed' }] },
    ]);

    const first = await findContentProvider(sql, app);
    const accepted = await acceptCpId({ sql, producer }, app, KIM, 'cp-other');
    expect(accepted).toMatchObject({ application_cp_id: 'cp-other' });
    expect(accepted.cp_id).not.toBe(first?.cp_id);
    expect(await listFailures(sql, { application_id: app, limit: 9 })).toEqual([]);
    expect(await store(sql, keys, app, OTHER)).toBe('sealed');
    expect((await rowOf(app)).cp_id).toBe(accepted.cp_id);
    expect((await openKycRecord(keys, await rowOf(app))).tax_id).toBe('OTHER-1');
  });

  it('that was the first one gets its own platform cp_id back', async () => {
    const app = await anApplication();
    await store(sql, keys, app, PLANTED);
    const first = await findContentProvider(sql, app);
    await store(sql, keys, app, OTHER);
    await acceptCpId({ sql, producer }, app, KIM, 'cp-other');
    await store(sql, keys, app, PLANTED);
    expect((await acceptCpId({ sql, producer }, app, KIM, PLANTED.cp_id)).cp_id).toBe(first?.cp_id);
  });

  it('waits to be accepted though a later pull fails or brings nothing', async () => {
    const app = await anApplication();
    await store(sql, keys, app, PLANTED);
    await store(sql, keys, app, OTHER);
    const kind = 'timeout';
    await recordKycFailure(sql, { application_id: app, pulled_at: new Date() }, { kind, reasons: [] });
    await store(sql, keys, app, null);
    expect(await findKycState(sql, app)).toMatchObject({ state: 'not_provided', refused_cp_id: 'cp-other' });
    expect(await acceptCpId({ sql, producer }, app, KIM, 'cp-other')).toMatchObject({
      application_cp_id: 'cp-other',
    });
    expect(await findKycState(sql, app)).toMatchObject({ state: 'pending', refused_cp_id: null });
  });

  it('can be accepted only while one waits', async () => {
    const app = await anApplication();
    await store(sql, keys, app, PLANTED);
    await expect(acceptCpId({ sql, producer }, app, KIM, 'cp-other')).rejects.toThrow(
      `No other cp_id of ${app} waits`,
    );
    await store(sql, keys, app, OTHER);
    await store(sql, keys, app, PLANTED);
    await expect(acceptCpId({ sql, producer }, app, KIM, 'cp-other')).rejects.toThrow('waits to be accepted');
  });
});

describe('erasing', () => {
  it('leaves no version, key or fingerprint, and says who and why', async () => {
    const app = await anApplication();
    await store(sql, keys, app, PLANTED);
    await store(sql, keys, app, { ...PLANTED, cp_name: 'Changed' });
    expect(await eraseKyc(sql, app, { ...KIM, reason: 'request of 3 May' })).toBe(2);
    expect(await sql`select 1 from kyc_records where application_id = ${app}`).toHaveLength(0);
    expect(await sql`select 1 from kyc_former_records where application_id = ${app}`).toHaveLength(0);
    expect(await stateOf(app)).toBe('erased');
    expect(
      await sql`select action, accessed_by, reason from kyc_access_log where application_id = ${app}`,
    ).toEqual([{ action: 'erase', accessed_by: 'kim', reason: 'request of 3 May' }]);
  });

  it('wins over a pull that is under way, and over one that began while it ran', async () => {
    const app = await anApplication();
    const underWay = { application_id: app, pulled_at: (await findKycState(sql, app))?.now ?? new Date() };
    await eraseKyc(sql, app, { ...KIM, reason: 'request' });
    expect(await storeOnce(sql, keys, underWay, PLANTED)).toBe('overtaken');
    const later = { application_id: app, pulled_at: new Date(Date.now() + 60_000) };
    expect(await storeOnce(sql, keys, later, PLANTED)).toBe('overtaken');
    expect(await findKycRecord(sql, app)).toBeUndefined();
  });

  it('works for an application that was removed, and wants a reason', async () => {
    const app = await anApplication();
    await store(sql, keys, app, PLANTED);
    await sql`update applications set status = 'removed' where application_id = ${app}`;
    await expect(eraseKyc(sql, app, { ...KIM, reason: ' ' })).rejects.toThrow('reason is empty');
    expect(await eraseKyc(sql, app, { ...KIM, reason: 'request' })).toBe(1);
    await expect(eraseKyc(sql, 'nobody', { ...KIM, reason: 'r' })).rejects.toThrow('no application "nobody"');
  });
});
