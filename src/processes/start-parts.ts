import type { Logger } from 'pino';
import type { Config } from '#src/config.ts';
import { checkDatabase } from '#src/processes/check-database.ts';
import type { FleetPart, StartPart } from '#src/processes/fleet-part.ts';
import { startMetrics } from '#src/processes/metrics.ts';
import { plainConnectionWarnings } from '#src/processes/plain-connections.ts';
import { startTelemetry } from '#src/tracing/start.ts';

/** The parts of a process that runs, and the URL of its metrics. */
export type RunningParts = { parts: FleetPart[]; metrics: string; stop: () => Promise<void> };

/**
 * Starts parts of the fleet in this process, one after another, and before them its metrics server, which stops after them.
 * @param name of the process: that of its only part, or `up`
 * @throws CatalogueError if the database has another version of the schema
 */
export const startParts = async (
  name: FleetPart['name'] | 'up',
  starts: readonly StartPart[],
  config: Config,
  databaseUrl: string,
  logger: Logger,
): Promise<RunningParts> => {
  await using started = new AsyncDisposableStack();
  started.use(await startTelemetry(config.telemetry, logger));
  for (const warning of plainConnectionWarnings(databaseUrl, config.redisUrl)) logger.warn(warning);
  await checkDatabase(config, databaseUrl, logger);
  const parts: FleetPart[] = [];
  let stopping = false;
  const fault = (): string | undefined => {
    if (stopping) return 'the process ends';
    if (parts.length < starts.length) return 'the process starts';
    return parts.map((part) => part.fault?.()).find((text) => text !== undefined);
  };
  const metrics = await startMetrics(config, databaseUrl, logger, {
    name,
    fault,
    pools: () => parts.map(({ sql }) => sql),
  });
  started.defer(() => metrics.stop());
  for (const start of starts) {
    const part = await start(config, databaseUrl, logger);
    started.defer(() => part.stop());
    parts.push(part);
  }
  started.defer(() => {
    stopping = true;
  });
  const all = started.move();
  return { parts, metrics: `${metrics.address}/metrics`, stop: () => all.disposeAsync() };
};
