import { pino } from 'pino';
import type { Database } from '#db/client.ts';
import { buildConsole } from '#src/console/app.ts';
import { jobSpecs } from '#src/ingest/specs.ts';
import { openQueueBackend } from '#src/queue/backend.ts';
import { createProducer } from '#src/queue/producer.ts';
import { listen } from '#src/roles/listen.ts';

/** Serves the console over this database, until the stack is disposed. @returns its address */
export const serveConsole = async (
  sql: Database,
  databaseUrl: string,
  stack: AsyncDisposableStack,
): Promise<string> => {
  const backend = openQueueBackend({
    databaseUrl,
    redisUrl: undefined,
    prefix: '{bench}',
    role: 'producer',
    onError: () => {},
  });
  stack.defer(() => backend.close());
  await backend.migrate();
  const producer = createProducer(backend, jobSpecs, () => {});
  stack.defer(() => producer.close());
  let url = '';
  const app = await buildConsole({
    sql,
    producer,
    url: () => url,
    trustedProxies: [],
    oidc: null,
    fourEyes: { kinds: [], onceTwo: false },
    logger: pino({ level: 'silent' }),
  });
  stack.defer(() => app.close());
  url = await listen(app, '127.0.0.1', 0, 'CONSOLE_PORT');
  return url;
};
