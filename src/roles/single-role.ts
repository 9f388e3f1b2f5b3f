import type { Logger } from 'pino';
import { openDatabase } from '#db/client.ts';
import { requireCurrentSchema } from '#db/schema-version.ts';
import type { Config } from '#src/config.ts';
import { compareClock } from '#src/roles/compare-clock.ts';
import { STARTING, startMetrics } from '#src/roles/metrics.ts';
import { plainConnectionWarnings } from '#src/roles/plain-connections.ts';
import type { FleetPart } from '#src/roles/role.ts';
import { startTelemetry } from '#src/tracing/start.ts';

export type StartRole = (config: Config, databaseUrl: string, logger: Logger) => Promise<FleetPart>;

const CLOSE_S = 2;

/** @throws CatalogueError if the database has another version of the schema */
export const checkDatabase = async (databaseUrl: string, logger: Logger): Promise<void> => {
  const sql = openDatabase(databaseUrl, { max: 1, applicationName: 'catalogue start' });
  try {
    await requireCurrentSchema(sql);
    await compareClock(sql, logger);
  } finally {
    await sql.end({ timeout: CLOSE_S });
  }
};

/**
 * Starts the only role of this process, and its metrics server, which stops after the role.
 * @throws CatalogueError if the database has another version of the schema
 */
export const startSingleRole = async (
  name: FleetPart['name'],
  start: StartRole,
  config: Config,
  databaseUrl: string,
  logger: Logger,
): Promise<{ role: FleetPart; metrics: string; stop: () => Promise<void> }> => {
  await using started = new AsyncDisposableStack();
  started.use(await startTelemetry(config.telemetry));
  for (const warning of plainConnectionWarnings(databaseUrl, config.redisUrl)) logger.warn(warning);
  await checkDatabase(databaseUrl, logger);
  let role: FleetPart | undefined;
  let stopping = false;
  const metrics = await startMetrics(config, databaseUrl, logger, {
    role: name,
    fault: () => (stopping ? 'the process ends' : role === undefined ? STARTING : role.fault?.()),
  });
  started.defer(() => metrics.stop());
  const running = await start(config, databaseUrl, logger);
  role = running;
  started.defer(() => {
    stopping = true;
    return running.stop();
  });
  const all = started.move();
  return { role: running, metrics: `${metrics.address}/metrics`, stop: () => all.disposeAsync() };
};
