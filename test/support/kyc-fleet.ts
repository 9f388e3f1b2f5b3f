import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { inject } from 'vitest';
import type { Database } from '#db/client.ts';
import { jobs } from '#jobs/index.ts';
import { readConfig } from '#src/config.ts';
import { buildBoard } from '#src/console/bull-board.ts';
import { FOUR_EYES_BY_DEFAULT } from '#src/contract/approvals.ts';
import { createJobDependencies, type JobLimits } from '#src/processes/job-dependencies.ts';
import { openQueueBackend } from '#src/queue/backend.ts';
import type { AnySpec, JobResult } from '#src/queue/job.ts';
import { createProducer, type Producer } from '#src/queue/producer.ts';
import { startRunner } from '#src/queue/runner.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';
import { localClock } from '#test/support/clock.ts';
import { everyRedisValue } from '#test/support/stored.ts';

export type TestFleet = {
  producer: Producer;
  /** Adds a job and waits for its end: what it returned, or why it failed. */
  finish: (spec: AnySpec, payload: object) => Promise<{ result: JobResult } | { failed: string }>;
  /** Everything that was logged, at level trace. */
  log: () => string;
  /** Every key and value of this fleet's queues in Redis; "" when they are in Postgres. */
  redisDump: () => Promise<string>;
  /** Every JSON that Bull Board serves of this job's queue. */
  boardDump: (spec: AnySpec) => Promise<string>;
  stop: () => Promise<void>;
};

const POLL_MS = 10;

/** A worker with the handlers of these specifications and these keys, on a backend of its own, which logs everything. */
export const startFleet = async (
  kind: 'redis' | 'postgres',
  database: { sql: Database; databaseUrl: string },
  specs: readonly AnySpec[],
  keys: KeyRing,
  limits: JobLimits = {},
): Promise<TestFleet> => {
  const redisUrl = kind === 'redis' ? inject('redisUrl') : undefined;
  if (redisUrl === null) throw new Error('there is no redis-server');
  const prefix = `kyc-${randomUUID()}`;
  const lines: string[] = [];
  const sink = new Writable({ write: (chunk, _encoding, done) => done(void lines.push(String(chunk))) });
  const logger = pino({ level: 'trace' }, sink);
  const onError = (error: Error) => logger.error({ error: error.message, stack: error.stack }, 'queue');
  const options = { databaseUrl: database.databaseUrl, redisUrl, prefix, use: 'worker', onError } as const;
  const backend = openQueueBackend(options);
  const producer = createProducer(backend, specs, onError);
  const started = new AsyncDisposableStack();
  const config = readConfig({
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8, ::1/128',
    KYC_KEEP_FORMER: '1d',
    KYC_KEEP_REMOVED: '1d',
  });
  const resources = { sql: database.sql, producer, keys };
  const deps = createJobDependencies(config, resources, started, limits);
  const handled = specs.flatMap((spec) =>
    jobs.filter((job) => job.spec.name === spec.name).map(({ handler }) => ({ spec, handler })),
  );
  const runner = startRunner(backend, handled, deps, localClock, logger, onError);
  await runner.ready();

  return {
    producer,
    finish: async (definition, payload) => {
      const { id } = await producer.add(definition, payload);
      for (;;) {
        const job = await producer.queue(definition).getJob(id as string);
        // Of one reading: what a job returned may come after it was first read.
        if (job?.finishedOn !== undefined) {
          return (await job.isFailed()) ? { failed: job.failedReason ?? '' } : { result: job.returnvalue };
        }
        await delay(POLL_MS);
      }
    },
    log: () => lines.join(''),
    redisDump: async () => (redisUrl === undefined ? '' : everyRedisValue(redisUrl, prefix)),
    boardDump: (definition) => dumpBoard(producer, definition),
    stop: async () => {
      await runner.stop(1_000);
      await started.disposeAsync();
      await producer.close();
      await backend.close();
    },
  };
};

const dumpBoard = async (producer: Producer, { name }: AnySpec): Promise<string> => {
  const app = await buildBoard(
    { producer, logger: pino({ level: 'silent' }), fourEyes: FOUR_EYES_BY_DEFAULT },
    false,
  );
  const get = async (url: string) => {
    const { statusCode, body } = await app.inject({ url: `/queues${url}` });
    if (statusCode !== 200) throw new Error(`the board answered ${statusCode} to ${url}`);
    return body;
  };
  try {
    const added = await producer.queue({ name }).getJobs();
    const pages = [`/api/queues?activeQueue=${name}&status=latest&page=1&jobsPerPage=100`];
    for (const { id } of added) pages.push(`/api/queues/${name}/${id}`, `/api/queues/${name}/${id}/logs`);
    return (await Promise.all(pages.map(get))).join('\n');
  } finally {
    await app.close();
  }
};

/** A value as it may stand in a dump: as it is, escaped for a URL, in hex, in base64 at each of the three offsets. */
export const formsOf = (value: string): string[] => {
  const bytes = Buffer.from(value);
  const inBase64 = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    // The first and last characters carry bits of the neighbours as well.
    return text.slice(offset === 0 ? 0 : offset + 1, -1);
  });
  const hex = bytes.toString('hex');
  return [
    ...new Set([
      value,
      encodeURIComponent(value),
      hex,
      hex.toUpperCase(),
      ...inBase64,
      ...inBase64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
    ]),
  ];
};
