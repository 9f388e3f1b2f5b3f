import type { Logger } from 'pino';
import { type Database, openDatabase } from '#db/client.ts';
import { type DecisionRules, readDecisionRules } from '#db/queries/decision-rules.ts';
import { requireCurrentSchema } from '#db/schema-version.ts';
import type { Config } from '#src/config.ts';
import { formatDuration } from '#src/lib/duration.ts';
import { compareClock } from '#src/roles/compare-clock.ts';
import { STARTING, startMetrics } from '#src/roles/metrics.ts';
import { plainConnectionWarnings } from '#src/roles/plain-connections.ts';
import type { FleetPart } from '#src/roles/role.ts';
import { startTelemetry } from '#src/tracing/start.ts';

export type StartRole = (config: Config, databaseUrl: string, logger: Logger) => Promise<FleetPart>;

const CLOSE_S = 2;

/** Logs the rules of this environment that differ from the database's: `migrate` ran without them, or before they were set. */
const compareRules = async (
  sql: Database,
  { games_need_verdict, review_target_ms }: Partial<DecisionRules>,
  logger: Logger,
): Promise<void> => {
  const rules = await readDecisionRules(sql);
  const differs = {
    ...(games_need_verdict !== undefined &&
      games_need_verdict !== rules.games_need_verdict && { GAMES_NEED_VERDICT: rules.games_need_verdict }),
    ...(review_target_ms !== undefined &&
      review_target_ms !== rules.review_target_ms && {
        REVIEW_TARGET: formatDuration(rules.review_target_ms),
      }),
  };
  if (Object.keys(differs).length > 0)
    logger.warn(differs, 'the database has other rules than this environment: run catalogue migrate with it');
};

/** @throws CatalogueError if the database has another version of the schema */
export const checkDatabase = async (
  { decisionRules }: Pick<Config, 'decisionRules'>,
  databaseUrl: string,
  logger: Logger,
): Promise<void> => {
  const sql = openDatabase(databaseUrl, { max: 1, applicationName: 'catalogue start' });
  try {
    await requireCurrentSchema(sql);
    await compareClock(sql, logger);
    await compareRules(sql, decisionRules, logger);
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
  started.use(await startTelemetry(config.telemetry, logger));
  for (const warning of plainConnectionWarnings(databaseUrl, config.redisUrl)) logger.warn(warning);
  await checkDatabase(config, databaseUrl, logger);
  let role: FleetPart | undefined;
  let stopping = false;
  const metrics = await startMetrics(config, databaseUrl, logger, {
    role: name,
    fault: () => (stopping ? 'the process ends' : role === undefined ? STARTING : role.fault?.()),
    pools: () => (role === undefined ? [] : [role.sql]),
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
