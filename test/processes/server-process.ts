// Serves the console or the metrics in a process of its own, so that a test measures that process alone. Prints its port;
// answers each line on stdin with the bytes it holds after a collection.
import { createInterface } from 'node:readline';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { openDatabase } from '#db/client.ts';
import { buildConsole } from '#src/console/app.ts';
import { buildMetricsApp } from '#src/metrics/app.ts';
import { listen } from '#src/processes/listen.ts';

const logger = pino({ level: 'silent' });
const app =
  process.argv[2] === 'console'
    ? await buildConsole({
        // No request of this test reaches the database.
        sql: openDatabase('postgres://127.0.0.1:9/none'),
        producer: { queues: () => [] } as never,
        url: () => 'http://127.0.0.1',
        kycDeskUrl: 'http://desk.invalid',
        trustedProxies: [],
        oidc: null,
        fourEyes: { kinds: [], onceTwo: false },
        keepsPictures: false,
        logger,
      })
    : await buildMetricsApp({
        name: 'test',
        registry: new Registry(),
        findUnreachable: async () => undefined,
        logger,
      });
const { port } = new URL(await listen(app, '127.0.0.1', 0, 'PORT'));
process.stdout.write(`${port}\n`);

for await (const _ of createInterface({ input: process.stdin })) {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  process.stdout.write(`${heapUsed + external}\n`);
}
await app.close();
