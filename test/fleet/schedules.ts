import { SCHEDULES } from '#src/contract/words.ts';
import { tick } from '#src/ingest/specs.ts';
import { sealAccessToken } from '#src/sealing/access-token.ts';
import type { World } from '#test/fleet/world.ts';
import { webhooksAt } from '#test/fleet/world-applications.ts';
import { openProducer } from '#test/fleet/world-runs.ts';
import { ACCESS_TOKEN, addApplication, testKeys } from '#test/support/factories.ts';

const WITHIN_MS = 5 * 60_000;
/** A pass over the schedules of 40,000 applications takes minutes on PostgreSQL. */
const WITHIN_MS_A_SCHEDULE = 10;
const POLL_MS = 500;
const POLL_MOST_MS = 15_000;

/** BullMQ reads each scheduler with a statement of its own, and all of them at once: a connection comes within 10 s. */
const SCHEDULERS_AT_ONCE = 100;

/** Waits until every active application's schedules tick in time. */
export const scheduled = async ({ sql, databaseUrl, queue }: World): Promise<void> => {
  await using foundation = openProducer(databaseUrl, queue.redisUrl);
  const ticks = foundation.producer.queue(tick);
  // A schedule that ticks between two pages moves, so one pass may miss it.
  const inTime = new Set<string>();
  const countExpected = async (): Promise<number> => {
    const [row] = await sql<{ active: number }[]>`
      select count(*)::int as active from applications where status = 'active'`;
    return (row?.active ?? 0) * SCHEDULES.length;
  };
  const areInTime = async (): Promise<boolean> => {
    const expected = await countExpected();
    if ((await ticks.getJobSchedulersCount()) < expected) return false;
    for (let from = 0, read = SCHEDULERS_AT_ONCE; read === SCHEDULERS_AT_ONCE; from += read) {
      const found = await ticks.getJobSchedulers(from, from + SCHEDULERS_AT_ONCE - 1, true);
      for (const { key, next = 0, every = 0 } of found) {
        if (next <= Date.now() + 2 * every) inTime.add(key);
        else inTime.delete(key);
      }
      read = found.length;
    }
    // Of an application that was removed or paused meanwhile.
    if (inTime.size > expected) inTime.clear();
    return inTime.size === expected;
  };
  const withinMs = WITHIN_MS + (await countExpected()) * WITHIN_MS_A_SCHEDULE;
  await poll('every schedule ticks in time', areInTime, withinMs);
};

/** Waits as `until` does, for a fleet so large or so slow that it takes minutes. */
export const poll = async (
  what: string,
  ask: () => Promise<boolean>,
  withinMs = WITHIN_MS,
): Promise<void> => {
  for (const deadline = Date.now() + withinMs; ; ) {
    const askedAt = Date.now();
    if (await ask()) return;
    if (Date.now() > deadline) throw new Error(`not within ${withinMs / 60_000} minutes: ${what}`);
    // Of 40,000 applications, an answer takes long: the fleet shall work meanwhile, not the question.
    const tookMs = Date.now() - askedAt;
    await new Promise((resolve) =>
      setTimeout(resolve, Math.min(POLL_MOST_MS, Math.max(POLL_MS, 10 * tookMs))),
    );
  }
};

/** Adds a tick of games for every application, and waits until each tick has ended and each application has a new run. */
export const tickAll = async ({ sql, databaseUrl, queue }: World): Promise<void> => {
  await using foundation = openProducer(databaseUrl, queue.redisUrl);
  const ticks = foundation.producer.queue(tick);
  const countRuns = () => sql<{ application_id: string; runs: number }[]>`
    select application_id, count(r.run_id)::int as runs
    from applications a left join sync_runs r using (application_id)
    where r.run_id is null or trigger = 'schedule' group by application_id`;
  const before = new Map((await countRuns()).map(({ application_id, runs }) => [application_id, runs]));
  const applications = await sql<{ application_id: string }[]>`select application_id from applications`;
  for (const { application_id } of applications)
    await foundation.producer.add(tick, { application_id, schedule: 'games' as const });
  await poll('every application has a new run of its schedule', async () => {
    const now = (await countRuns()).filter(
      ({ application_id, runs }) => runs > (before.get(application_id) ?? 0),
    );
    return now.length === applications.length && (await ticks.getJobCountByTypes('waiting', 'active')) === 0;
  });
};

const BATCH = 2_000;

/** Register applications at one server. */
export const addApplications = async ({ sql }: World, url: string, count: number): Promise<void> => {
  const { application_id: model, ...row } = await addApplication(sql, 'model', webhooksAt(url));
  await sql`delete from applications where application_id = ${model}`;
  for (let from = 0; from < count; from += BATCH) {
    const rows = await Promise.all(
      Array.from({ length: Math.min(BATCH, count - from) }, async (_, index) => {
        const application_id = `many-${from + index}`;
        const sealed = await sealAccessToken(testKeys, { ...row, application_id }, ACCESS_TOKEN);
        return {
          ...row,
          ...sealed,
          application_id,
          access_token_keys: sql.json(sealed.access_token_keys as never),
        };
      }),
    );
    await sql`insert into applications ${sql(rows as never)}`;
  }
};
