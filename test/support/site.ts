import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import type { Database } from '#db/client.ts';
import { FOUR_EYES_BY_DEFAULT } from '#src/contract/approvals.ts';
import { jobSpecs } from '#src/ingest/specs.ts';
import { listen, stopListening } from '#src/processes/listen.ts';
import { openQueueBackend } from '#src/queue/backend.ts';
import { createProducer, type Producer } from '#src/queue/producer.ts';
import type { ConsoleOptions } from '#src/site/options.ts';

/** Where a site reads and writes; without a `redisUrl` its queues are in the database. */
type Place = { sql: Database; databaseUrl: string; redisUrl: string | undefined; prefix: string };

export type TestSite = { url: string; app: FastifyInstance; producer: Producer; stop: () => Promise<void> };

/** Serves a site on a free port. @param build builds it from the options that every site takes */
export const serveSite = async (
  { sql, databaseUrl, redisUrl, prefix }: Place,
  build: (options: ConsoleOptions) => Promise<FastifyInstance>,
): Promise<TestSite> => {
  const backend = openQueueBackend({ databaseUrl, redisUrl, prefix, use: 'producer', onError: () => {} });
  const producer = createProducer(backend, jobSpecs, () => {});
  let url = '';
  const app = await build({
    sql,
    producer,
    url: () => url,
    kycDeskUrl: 'http://desk.invalid',
    trustedProxies: [],
    oidc: null,
    fourEyes: FOUR_EYES_BY_DEFAULT,
    keepsPictures: false,
    logger: pino({ level: 'silent' }),
  });
  url = await listen(app, '127.0.0.1', 0, 'CONSOLE_PORT');
  return {
    url,
    app,
    producer,
    stop: async () => {
      await stopListening(app);
      await producer.close();
      await backend.close();
    },
  };
};
