import type { Logger } from 'pino';
import { type Database, openDatabase, readTime } from '#db/client.ts';
import { readDecisionRules } from '#db/queries/decision-rules.ts';
import { requireCurrentSchema } from '#db/schema-version.ts';
import type { Config } from '#src/config.ts';
import { formatDuration } from '#src/lib/duration.ts';
import { openTrustedClock } from '#src/queue/trusted-clock.ts';

const CLOSE_S = 2;

/** Logs how far the clock of this process is from the clock of Postgres. Workers and media run no job while it is wrong. */
const compareClock = async (sql: Database, logger: Logger): Promise<void> => {
  const clock = await openTrustedClock(() => readTime(sql));
  const fault = clock.fault();
  const offset = { clock_offset_ms: Math.round(clock.offsetMs()) };
  if (fault === undefined) logger.info(offset, 'the clock agrees with the clock of Postgres');
  else logger.warn(offset, fault);
};

/** Logs the rules of this environment that differ from the database's, because `migrate` ran without them, or before they were set. */
const compareRules = async (
  sql: Database,
  { games_need_verdict, review_target_ms }: Config['decisionRules'],
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
