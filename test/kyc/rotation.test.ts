import { setImmediate as turn } from 'node:timers/promises';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Database } from '#db/client.ts';
import { listApplications } from '#db/queries/applications.ts';
import { findKycRecord, type KycRecordRow } from '#db/queries/kyc.ts';
import { countWrappedByOthers, WRAPPED_TABLES } from '#db/queries/wrapped-keys.ts';
import { openKycRecord } from '#src/kyc/record.ts';
import { openAccessToken } from '#src/sealing/access-token.ts';
import { runCli, startCli } from '#test/support/cli.ts';
import { ACCESS_TOKEN, addApplication } from '#test/support/factories.ts';
import { aHome, allRecords, keysText, PLANTED, ringOf, store } from '#test/support/kyc.ts';
import { asOperator } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
let sql: Database;
beforeAll(() => {
  sql = database.sql;
});

describe('a rotation of ENCRYPTION_KEYS', () => {
  const APPLICATIONS = 1_500;
  const inParallel = async (count: number, work: (index: number) => Promise<unknown>) => {
    let next = 0;
    const lane = async () => {
      for (let index = next++; index < count; index = next++) await work(index);
    };
    await Promise.all(Array.from({ length: 5 }, lane));
  };

  it('loses nothing when the reseal is killed halfway while workers write, and ends with the old key gone', async () => {
    const before = ringOf(['k1'], 'home-aaaaaaaa');
    await inParallel(APPLICATIONS, async (index) => {
      await addApplication(sql, `app-${index}`, {}, before);
      await store(sql, before, `app-${index}`, PLANTED);
    });
    const env = {
      ...asOperator(database.databaseUrl),
      ENCRYPTION_KEYS: keysText('k2', 'k1'),
      CATALOGUE_HOME: await aHome(),
    };

    // The workers have been restarted with both keys: they write from before the reseal until after it.
    const both = ringOf(['k2', 'k1'], 'home-aaaaaaaa');
    const expected = new Map<number, string>();
    let writing = true;
    let writes = 0;
    const writer = async (lane: number) => {
      for (let step = lane; writing; step += 3) {
        const index = (step * 7) % APPLICATIONS;
        expected.set(index, `bank ${step}`);
        await store(sql, both, `app-${index}`, { ...PLANTED, opening_bank: `bank ${step}` });
        writes += 1;
        if (step % 5 === 0) await addApplication(sql, `new-${step}`, {}, both);
      }
    };
    const writers = [0, 1, 2].map(writer);
    onTestFinished(async () => {
      writing = false;
      await Promise.all(writers);
    });

    const left = async () => {
      const counts = await Promise.all(WRAPPED_TABLES.map((table) => countWrappedByOthers(sql, table, 'k2')));
      return counts.reduce((sum, count) => sum + count, 0);
    };
    const total = await left();
    const reseal = startCli(['kyc', 'reseal', '--json'], env);
    while ((await left()) > total * 0.8) await turn();
    reseal.kill('SIGKILL');
    expect((await reseal.done).exit).toBeNull();
    const halfway = await left();
    expect(halfway).toBeGreaterThan(0);
    expect(halfway).toBeLessThan(total);

    const again = await runCli(['kyc', 'reseal', '--json'], env);
    expect(again).toMatchObject({ exit: 0, stderr: '' });
    expect(JSON.parse(again.stdout)).toMatchObject({ key_id: 'k2', failed: [] });
    expect(JSON.parse(again.stdout).rewrapped).toBeLessThan(total);
    writing = false;
    await Promise.all(writers);
    expect(writes).toBeGreaterThan(10);
    expect(await left()).toBe(0);

    const after = ringOf(['k2']);
    for (const row of await allRecords(sql)) await openKycRecord(after, row);
    for (const [index, bank] of expected) {
      const row = await findKycRecord(sql, `app-${index}`);
      expect((await openKycRecord(after, row as KycRecordRow)).opening_bank).toBe(bank);
    }
    for (const application of await listApplications(sql)) {
      expect(await openAccessToken(after, application)).toBe(ACCESS_TOKEN);
    }
    // The fingerprint key came along: nothing counts as changed.
    expect(
      await store(sql, after, 'app-1', { ...PLANTED, opening_bank: expected.get(1) ?? PLANTED.opening_bank }),
    ).toBe('unchanged');
  });
});
