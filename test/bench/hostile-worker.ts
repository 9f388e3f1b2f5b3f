// One worker of bench/hostile.ts, in a process of its own. Prints a line when it takes jobs, ends with its stdin.
import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { pino } from 'pino';
import { openDatabase } from '#db/client.ts';
import { jobs } from '#jobs/index.ts';
import { readConfig } from '#src/config.ts';
import { jobSpecs } from '#src/ingest/specs.ts';
import { createJobDependencies } from '#src/processes/job-dependencies.ts';
import { openQueueBackend } from '#src/queue/backend.ts';
import { createProducer } from '#src/queue/producer.ts';
import { startRunner } from '#src/queue/runner.ts';
import { localKey } from '#src/sealing/key-provider.ts';
import { localClock } from '#test/support/clock.ts';

const key = localKey('bench', new Uint8Array(32).fill(7));
export const keys = { records: [key], tokens: [key] };
/** As the role `worker` has them. */
const DATABASE_CONNECTIONS = 20;
const HEAP_GROWTH_PERCENT = 50;

export type Fleet = { databaseUrl: string; redisUrl: string | undefined; prefix: string };

export const openQueue = async (fleet: Fleet) => {
  const onError = (error: Error) => void process.stderr.write(`queue: ${error.message}\n`);
  const backend = openQueueBackend({ ...fleet, use: 'worker', onError });
  await backend.migrate();
  return { backend, producer: createProducer(backend, jobSpecs, onError), onError };
};

if (import.meta.main) {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`);
  const fleet: Fleet = JSON.parse(process.argv[2] ?? '');
  const sql = openDatabase(fleet.databaseUrl, { max: DATABASE_CONNECTIONS });
  const { backend, producer, onError } = await openQueue(fleet);
  const config = readConfig({ WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8' });
  const deps = createJobDependencies(config, { sql, producer, keys }, new AsyncDisposableStack());
  const runner = startRunner(backend, jobs, deps, localClock, pino({ level: 'silent' }), onError);
  await runner.ready();
  process.stdout.write('ready\n');
  await once(process.stdin.resume(), 'end');
  const { user, system } = process.cpuUsage();
  process.stdout.write(`${Math.round((user + system) / 1_000)}\n`);
  process.exit();
}
