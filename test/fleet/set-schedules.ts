// Sets every schedule by the clock of this process, which may be wrong: a worker with such a clock does no work.
// node [--import wrong-clock.ts?-24] set-schedules.ts DATABASE_URL [REDIS_URL]
import { FIRST_SCHEDULE, reconcileSchedules } from '#src/ingest/schedules.ts';
import { openProducer } from '#test/fleet/world-runs.ts';

const [databaseUrl = '', redisUrl] = process.argv.slice(2);
await using foundation = openProducer(databaseUrl, redisUrl);
const { sql, producer } = foundation;
const { signal } = new AbortController();
const { isComplete, set, failed } = await reconcileSchedules(
  sql,
  producer,
  signal,
  FIRST_SCHEDULE,
  Number.POSITIVE_INFINITY,
);
if (!isComplete || failed > 0) throw new Error(`${set} schedules are set, ${failed} failed`);
