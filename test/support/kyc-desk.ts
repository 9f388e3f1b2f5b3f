import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, inject } from 'vitest';
import { buildKycDesk } from '#src/kyc-desk/app.ts';
import { type DeskOptions, REVEAL_MS } from '#src/kyc-desk/options.ts';
import { ringOf } from '#test/support/kyc.ts';
import { openAs } from '#test/support/roles.ts';
import { serveSite, type TestSite } from '#test/support/site.ts';

export type TestDesk = TestSite;

export const DESK_KEYS = ringOf(['k1']);

/** Starts a KYC desk with its own rights on a free port, over queues of its own in Redis, or in this database. */
export const startTestDesk = async (
  { databaseUrl }: { databaseUrl: string },
  given: Partial<DeskOptions> = {},
): Promise<TestDesk> => {
  const sql = openAs('kyc_desk', databaseUrl);
  const redisUrl = inject('redisUrl') ?? undefined;
  const place = { sql, databaseUrl, redisUrl, prefix: `desk-${randomUUID()}` };
  const site = await serveSite(place, (each) =>
    buildKycDesk({ ...each, keys: DESK_KEYS, revealMs: REVEAL_MS, ...given }),
  );
  return { ...site, stop: () => site.stop().then(() => sql.end({ timeout: 1 })) };
};

/** A KYC desk for the tests of one file or `describe`: started before them, stopped after them. It is empty until then. */
export const useTestDesk = (database: { databaseUrl: string }, given?: Partial<DeskOptions>): TestDesk => {
  const desk = {} as TestDesk;
  beforeAll(async () => void Object.assign(desk, await startTestDesk(database, given)));
  afterAll(() => desk.stop?.());
  return desk;
};
