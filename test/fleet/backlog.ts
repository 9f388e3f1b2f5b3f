import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startFleetApplication } from '#test/fleet/application.ts';
import { addApplications, poll } from '#test/fleet/schedules.ts';
import type { World } from '#test/fleet/world.ts';

const CLOCK = fileURLToPath(new URL('./wrong-clock.ts', import.meta.url));
const SET_SCHEDULES = fileURLToPath(new URL('./set-schedules.ts', import.meta.url));
const DAY_MS = 24 * 60 * 60_000;
const run = promisify(execFile);

/**
 * Register applications without games whose schedules are overdue by one tick, as after a day without workers: a process
 * whose clock is a day behind sets them. Their server answers until the world ends, for they tick again meanwhile.
 */
export const addBacklog = async (world: World, count: number): Promise<void> => {
  const { sql, databaseUrl, queue } = world;
  const { url } = world.use(await startFleetApplication('many', { games: 0 }));
  await addApplications(world, url, count);
  await sql`update applications set every_ms = ${DAY_MS}`;
  const urls = [databaseUrl, ...(queue.redisUrl === undefined ? [] : [queue.redisUrl])];
  await Promise.all([
    run(process.execPath, ['--import', `${CLOCK}?-24`, SET_SCHEDULES, ...urls]),
    queue.kind === 'postgres' && analyzeSchedulers(world),
  ]);
};

/**
 * As autovacuum does within a minute. Statements that were planned for an empty table read all schedulers of a queue to
 * find one, and each scheduler that is set reads one.
 */
const analyzeSchedulers = async ({ sql }: World): Promise<void> => {
  const hasSome = async () => {
    const [row] = await sql<{ some: boolean }[]>`select count(*) >= 500 as some from bullmq.scheduler`;
    return row?.some === true;
  };
  await poll('500 schedules are set', hasSome);
  await sql`analyze bullmq.scheduler`;
};

/** Applications that lack a finished run of their schedule. */
export const countOverdue = async ({ sql }: World): Promise<number> => {
  const [row] = await sql<{ overdue: number }[]>`
    select count(*)::int as overdue from applications a where not exists (
      select from sync_runs r
      where r.application_id = a.application_id and trigger = 'schedule' and finished_at is not null)`;
  return row?.overdue ?? 0;
};
