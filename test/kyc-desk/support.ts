import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { inject } from 'vitest';
import { FOUR_EYES_BY_DEFAULT } from '#src/contract/approvals.ts';
import { jobSpecs } from '#src/ingest/specs.ts';
import { buildKycDesk } from '#src/kyc-desk/app.ts';
import { type DeskOptions, REVEAL_MS } from '#src/kyc-desk/options.ts';
import { openQueueBackend } from '#src/queue/backend.ts';
import { createProducer, type Producer } from '#src/queue/producer.ts';
import { listen } from '#src/roles/listen.ts';
import { ringOf } from '#test/kyc/support.ts';
import { openAs } from '#test/support/roles.ts';

export type TestDesk = { url: string; producer: Producer; stop: () => Promise<void> };

export const DESK_KEYS = ringOf(['k1']);

/** Starts a KYC desk on a free port, over queues of its own in Redis, or in this database. */
export const startTestDesk = async (
  { databaseUrl }: { databaseUrl: string },
  given: Partial<DeskOptions> = {},
): Promise<TestDesk> => {
  const redisUrl = inject('redisUrl') ?? undefined;
  const prefix = `desk-${randomUUID()}`;
  const backend = openQueueBackend({ databaseUrl, redisUrl, prefix, role: 'producer', onError: () => {} });
  await backend.migrate();
  const producer = createProducer(backend, jobSpecs, () => {});
  const own = openAs('kyc_desk', databaseUrl);
  let url = '';
  const app = await buildKycDesk({
    sql: own,
    producer,
    keys: DESK_KEYS,
    url: () => url,
    trustedProxies: [],
    oidc: null,
    fourEyes: FOUR_EYES_BY_DEFAULT,
    revealMs: REVEAL_MS,
    logger: pino({ level: 'silent' }),
    ...given,
  });
  url = await listen(app, '127.0.0.1', 0, 'KYC_DESK_PORT');
  return {
    url,
    producer,
    stop: async () => {
      await app.close();
      await producer.close();
      await backend.close();
      await own.end({ timeout: 1 });
    },
  };
};
