import type { Logger } from 'pino';
import { type Database, readTime } from '#db/client.ts';
import { openTrustedClock } from '#src/queue/trusted-clock.ts';

/** Logs how far the clock of this process is from the clock of Postgres. Workers and media run no job while it is wrong. */
export const compareClock = async (sql: Database, logger: Logger): Promise<void> => {
  const clock = await openTrustedClock(() => readTime(sql));
  const fault = clock.fault();
  const offset = { clock_offset_ms: Math.round(clock.offsetMs()) };
  if (fault === undefined) logger.info(offset, 'the clock agrees with the clock of Postgres');
  else logger.warn(offset, fault);
};
