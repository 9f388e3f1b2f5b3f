import { fileURLToPath } from 'node:url';
import { startFleetApplication } from '#test/fleet/application.ts';
import type { Fault } from '#test/fleet/faults/fault.ts';
import { addApplications, poll, scheduled, tickAll } from '#test/fleet/schedules.ts';
import { type World, webhooksAt } from '#test/fleet/world.ts';
import { moveWebhooks } from '#test/support/factories.ts';

const FAILING_DNS = fileURLToPath(new URL('../failing-dns.ts', import.meta.url));
const CLOCK = fileURLToPath(new URL('../wrong-clock.ts', import.meta.url));
const QUARTER_MS = 15 * 60_000;
const DAY_MS = 24 * 60 * 60_000;

/** Move the clock: everything that has happened is a quarter of an hour older. */
const advance = async ({ sql }: World): Promise<void> => {
  await sql`
    update sync_runs set started_at = started_at - interval '15 minutes', finished_at = finished_at - interval '15 minutes',
      progress_at = progress_at - interval '15 minutes'`;
  await sql`
    update applications set failing_since = failing_since - interval '15 minutes',
      next_attempt_at = next_attempt_at - interval '15 minutes'`;
};

/** Scheduled runs of each application by their outcome. */
const scheduledRuns = ({ sql }: World) => sql<
  { application_id: string; failed: number; succeeded: number }[]
>`
  select application_id, (count(r.run_id) filter (where outcome = 'failed'))::int as failed,
         (count(r.run_id) filter (where outcome = 'succeeded'))::int as succeeded
  from applications a left join sync_runs r using (application_id)
  where r.run_id is null or r.trigger = 'schedule' group by application_id order by application_id`;

/** A quarter of an hour passes, and every schedule of games ticks. */
const quarter = async (world: World, ticks: number): Promise<void> => {
  await advance(world);
  await tickAll(world, ticks);
  await world.quiet();
};

/** Outages of the fleet's own network, which no application has caused. */
export const OUTAGE_FAULTS: readonly Fault[] = [
  {
    name: 'DNS fails for an hour',
    mostCalls: 6,
    // Fewer than five applications do not show that the fleet itself is cut off.
    world: { applications: 6 },
    inject: async (world) => {
      await world.sql`update applications set every_ms = ${QUARTER_MS}`;
      for (const { application_id, url } of world.applications)
        await moveWebhooks(
          world.sql,
          application_id,
          webhooksAt(url.replace('127.0.0.1', `${application_id}.example`)),
        );
      const workers = await Promise.all([1, 2].map(() => world.startWorker({ preload: FAILING_DNS })));
      const toggleDns = () => workers.map((worker) => worker.signal('SIGUSR2'));
      await quarter(world, 1);
      toggleDns();
      for (let passed = 1; passed <= 4; passed += 1) await quarter(world, 1 + passed);
      toggleDns();
      await quarter(world, 6);
    },
    findWrong: async (world) =>
      (await scheduledRuns(world))
        .filter(({ failed, succeeded }) => failed !== 4 || succeeded !== 2)
        .map((row) => `${row.application_id}: ${row.failed} runs failed, ${row.succeeded} succeeded`),
  },
  {
    // Their workers were down for an interval: every application is due at once.
    name: 'a backlog of 40,000 applications',
    mostCalls: Number.POSITIVE_INFINITY,
    on: 'redis',
    alone: true,
    inject: async (world) => {
      await using server = await startFleetApplication('many', { games: 0 });
      await addApplications(world, server.url, 40_000);
      await world.sql`update applications set every_ms = ${DAY_MS}`;
      const behind = await world.startWorker({ preload: `${CLOCK}?-24` });
      await scheduled(world);
      await behind.stop();
      await Promise.all([world.startWorker(), world.startWorker()]);
      await poll(
        'every application has had its run',
        async () => {
          const late = await world.sql`
          select from applications a where not exists (
            select from sync_runs r where r.application_id = a.application_id and finished_at is not null and trigger = 'schedule')
          limit 1`;
          return late.length === 0;
        },
        20 * 60_000,
      );
    },
    findWrong: async (world) =>
      (await scheduledRuns(world))
        .filter(({ failed, succeeded }) => failed > 0 || succeeded === 0)
        .slice(0, 5)
        .map((row) => `${row.application_id}: ${row.failed} runs failed, ${row.succeeded} succeeded`),
  },
];
