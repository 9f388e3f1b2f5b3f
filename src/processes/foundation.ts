import type { Logger } from 'pino';
import { type Database, openDatabase } from '#db/client.ts';
import type { Config } from '#src/config.ts';
import { safeMessage } from '#src/errors.ts';
import { jobSpecs } from '#src/ingest/specs.ts';
import { onceEvery } from '#src/lib/once-every.ts';
import { openQueueBackend, type QueueBackend } from '#src/queue/backend.ts';
import type { AnySpec } from '#src/queue/job.ts';
import { createProducer, type Producer } from '#src/queue/producer.ts';
import { loadQueueTelemetry } from '#src/tracing/queue-telemetry.ts';

/** Database and queues, which every process uses. */
export type Foundation = {
  sql: Database;
  backend: QueueBackend;
  producer: Producer;
  [Symbol.asyncDispose]: () => Promise<void>;
};

/**
 * At shutdown, connections that are still busy after this time are closed. With silent servers, the waits of a worker with
 * jobs then end before the 40 s of src/cli/kit/run-until-signal.ts.
 */
const CLOSE_S = 2;

const REPEAT_MS = 10_000;

/** @returns a function that logs errors of the connection to the queue, at most one every 10 s */
export const createQueueErrorLog = (logger: Logger): ((error: Error) => void) => {
  const isDue = onceEvery(REPEAT_MS);
  return (error) => {
    if (isDue()) logger.warn({ error: safeMessage(error) }, 'the queue is unreachable, retrying');
  };
};

type Queues = Pick<Foundation, 'backend' | 'producer' | typeof Symbol.asyncDispose>;
type QueueConfig = Pick<Config, 'redisUrl' | 'queuePrefix'> & Partial<Pick<Config, 'telemetry'>>;

/**
 * Opens the queues of these specifications. They connect on first use.
 * @param use `producer` fails within seconds if the queue is unreachable, `worker` waits for it
 */
export const openQueues = (
  config: QueueConfig,
  databaseUrl: string,
  use: 'producer' | 'worker',
  onError: (error: Error) => void,
  specs: readonly AnySpec[] = jobSpecs,
): Queues => {
  let closing = false;
  const onOpenError = (error: Error): void => {
    // An embedded Postgres may stop before the last connection closes.
    if (!closing) onError(error);
  };
  const { redisUrl, queuePrefix: prefix } = config;
  const telemetry = config.telemetry?.traces ? loadQueueTelemetry() : undefined;
  const backend = openQueueBackend({ databaseUrl, redisUrl, prefix, use, telemetry, onError: onOpenError });
  const producer = createProducer(backend, specs, onOpenError);
  return {
    backend,
    producer,
    [Symbol.asyncDispose]: async () => {
      closing = true;
      await producer.close();
      await backend.close();
    },
  };
};

/**
 * Opens database and queues. They connect on first use.
 * @param options.use see `openQueues`
 */
export const openFoundation = (
  config: QueueConfig,
  databaseUrl: string,
  options: {
    use: 'producer' | 'worker';
    name: string;
    maxConnections: number;
    planOnce?: boolean;
    statementMs?: number;
    /** See `openDatabase`. */
    giveUpS?: number;
    /** The queues that the process uses. Its user of Redis has rights on no other. Default: all. */
    specs?: readonly AnySpec[];
    logger: Logger;
  },
): Foundation => {
  const sql = openDatabase(databaseUrl, {
    max: options.maxConnections,
    applicationName: `catalogue ${options.name}`,
    planOnce: options.planOnce ?? false,
    giveUpS: options.giveUpS,
    ...(options.statementMs !== undefined && { statementMs: options.statementMs }),
  });
  const queues = openQueues(
    config,
    databaseUrl,
    options.use,
    createQueueErrorLog(options.logger),
    options.specs,
  );
  return {
    sql,
    ...queues,
    [Symbol.asyncDispose]: async () => {
      await queues[Symbol.asyncDispose]();
      await sql.end({ timeout: CLOSE_S });
    },
  };
};
