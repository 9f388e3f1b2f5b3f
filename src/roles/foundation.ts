import type { Logger } from 'pino';
import { type Database, openDatabase } from '#db/client.ts';
import type { Config } from '#src/config.ts';
import { safeMessage } from '#src/errors.ts';
import { jobSpecs } from '#src/ingest/specs.ts';
import { openQueueBackend, type QueueBackend } from '#src/queue/backend.ts';
import { createProducer, type Producer } from '#src/queue/producer.ts';
import { traceQueues } from '#src/tracing/trace-queues.ts';

/** Database and queues: every role starts with them. */
export type Foundation = {
  sql: Database;
  backend: QueueBackend;
  producer: Producer;
  [Symbol.asyncDispose]: () => Promise<void>;
};

/** Seconds until open connections are cut at the end. */
const CLOSE_S = 5;

const REPEAT_MS = 10_000;

/** @returns a function that logs errors of the connection to the queue, at most one every 10 s */
export const createQueueErrorLog = (logger: Logger): ((error: Error) => void) => {
  let silentUntil = Number.NEGATIVE_INFINITY;
  return (error) => {
    const now = performance.now();
    if (now < silentUntil) return;
    silentUntil = now + REPEAT_MS;
    logger.warn({ error: safeMessage(error) }, 'the queue is unreachable, retrying');
  };
};

/**
 * Opens database and queues. They connect on first use.
 * @param options.role `producer` fails within seconds if the queue is unreachable, `worker` waits for it
 */
export const openFoundation = (
  config: Pick<Config, 'redisUrl' | 'queuePrefix'> & Partial<Pick<Config, 'tracing'>>,
  databaseUrl: string,
  options: {
    role: 'producer' | 'worker';
    name: string;
    maxConnections: number;
    planOnce?: boolean;
    logger: Logger;
  },
): Foundation => {
  const sql = openDatabase(databaseUrl, {
    max: options.maxConnections,
    applicationName: `catalogue ${options.name}`,
    planOnce: options.planOnce ?? false,
  });
  let closing = false;
  const logError = createQueueErrorLog(options.logger);
  const onError = (error: Error): void => {
    // An embedded Postgres may stop before the last connection closes.
    if (!closing) logError(error);
  };
  const untraced = openQueueBackend({
    databaseUrl,
    redisUrl: config.redisUrl,
    prefix: config.queuePrefix,
    role: options.role,
    onError,
  });
  const backend = config.tracing ? traceQueues(untraced) : untraced;
  const producer = createProducer(backend, jobSpecs, onError);
  return {
    sql,
    backend,
    producer,
    [Symbol.asyncDispose]: async () => {
      closing = true;
      await producer.close();
      await backend.close();
      await sql.end({ timeout: CLOSE_S });
    },
  };
};
