import type { Logger } from 'pino';
import { type Database, openDatabase } from '#db/client.ts';
import type { Config } from '#src/config.ts';
import { jobSpecs } from '#src/ingest/specs.ts';
import { openQueueBackend, type QueueBackend } from '#src/queue/backend.ts';
import { createProducer, type Producer } from '#src/queue/producer.ts';
import { queueTelemetry } from '#src/tracing/queue-telemetry.ts';
import { tracedBackend } from '#src/tracing/traced-backend.ts';

/** What every role stands on: the database and the queues. */
export type Foundation = {
  sql: Database;
  backend: QueueBackend;
  producer: Producer;
  [Symbol.asyncDispose]: () => Promise<void>;
};

/** How long closing may take before connections are cut. */
const CLOSE_S = 5;

/** Errors of the connection come by the dozen while a server is away; one line in this time is enough. */
const REPEAT_MS = 10_000;

/** Log a connection's errors without drowning the log. */
export const quietly = (logger: Logger, what: string): ((error: Error) => void) => {
  let silentUntil = Number.NEGATIVE_INFINITY;
  return (error) => {
    const now = performance.now();
    if (now < silentUntil) return;
    silentUntil = now + REPEAT_MS;
    const { code } = error as { code?: unknown };
    // What Redis answers begins with a code of its own: OOM, READONLY, WRONGPASS.
    const refusal = error.name === 'ReplyError' ? /^[A-Z]+/.exec(error.message)?.[0] : undefined;
    logger.warn(
      { error: refusal ?? (typeof code === 'string' ? code : error.name) },
      `${what} is away, trying again`,
    );
  };
};

/**
 * Open database and queues. Connections are made on first use.
 * @param role `producer` fails fast when the queue is away, `worker` waits for it
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
  const tell = quietly(options.logger, 'the queue');
  // What breaks once it is being closed is nobody's loss: an embedded Postgres may stop before the last connection.
  const onError = (error: Error): void => {
    if (!closing) tell(error);
  };
  const telemetry = queueTelemetry(config.tracing ?? false);
  const plain = openQueueBackend({
    databaseUrl,
    redisUrl: config.redisUrl,
    prefix: config.queuePrefix,
    role: options.role,
    onError,
  });
  const backend = telemetry === undefined ? plain : tracedBackend(plain, telemetry);
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
