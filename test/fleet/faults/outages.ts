import { fileURLToPath } from 'node:url';
import { addBacklog, countOverdue } from '#test/fleet/backlog.ts';
import type { Fault } from '#test/fleet/faults/fault.ts';
import { poll, tickAll } from '#test/fleet/schedules.ts';
import { differences, lastingRows } from '#test/fleet/snapshot.ts';
import { PRODUCTION } from '#test/fleet/worker.ts';
import type { World } from '#test/fleet/world.ts';
import { webhooksAt } from '#test/fleet/world-applications.ts';
import { moveWebhooks } from '#test/support/factories.ts';

const FAILING_DNS = fileURLToPath(new URL('../failing-dns.ts', import.meta.url));
const QUARTER_MS = 15 * 60_000;
const DRAINED_WITHIN_MS = 20 * 60_000;
/** Of six applications, those that the undisturbed fleet has too. */
const COMPARED = ['app-0', 'app-1', 'app-2'];

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
const quarter = async (world: World): Promise<void> => {
  await advance(world);
  await tickAll(world);
  await world.quiet();
};

/** @throws if an application is paused, or its next run comes later than its next tick */
const checkNoneDelayed = async ({ sql }: World): Promise<void> => {
  const delayed = await sql<{ application_id: string; status: string; failed_runs: number }[]>`
    select application_id, status, failed_runs from applications
    where status <> 'active' or next_attempt_at > now() + every_ms * interval '1 millisecond'`;
  const [first] = delayed;
  if (first !== undefined)
    throw new Error(`${delayed.length} applications are delayed: ${JSON.stringify(first)}`);
};

/** Outages of the fleet's own network, which no application has caused. */
export const OUTAGE_FAULTS: readonly Fault[] = [
  {
    name: 'DNS fails for an hour',
    mostCalls: 10,
    // Fewer than five applications do not show that the fleet itself is cut off.
    world: { applications: 6, patient: true },
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
      await quarter(world);
      toggleDns();
      // A call on an open connection would look up no name.
      for (const { cut } of world.applications) cut();
      for (let passed = 1; passed <= 4; passed += 1) {
        await quarter(world);
        await checkNoneDelayed(world);
      }
      toggleDns();
      await quarter(world);
    },
    findWrong: async (world, expected) => [
      ...(await scheduledRuns(world))
        .filter(({ failed, succeeded }) => failed < 4 || succeeded < 2)
        .map((row) => `${row.application_id}: ${row.failed} runs failed, ${row.succeeded} succeeded`),
      ...differences(lastingRows(expected, COMPARED), lastingRows(await world.snapshot(), COMPARED)),
    ],
  },
  {
    // Their workers were down for an interval: every application is due at once.
    name: 'a backlog of 40,000 applications',
    mostCalls: Number.POSITIVE_INFINITY,
    alone: true,
    world: { patient: true },
    inject: async (world) => {
      await addBacklog(world, 40_000);
      // The chores of a fleet in tests, once or twice a second, count the jobs of a queue with 40,000 in it.
      await Promise.all([1, 2].map(() => world.startWorker({ timing: PRODUCTION })));
      const isDrained = async () => (await countOverdue(world)) === 0;
      await poll('every application has had its run', isDrained, DRAINED_WITHIN_MS);
    },
    findWrong: async (world) =>
      (await scheduledRuns(world))
        .filter(({ failed, succeeded }) => failed > 0 || succeeded === 0)
        .slice(0, 5)
        .map((row) => `${row.application_id}: ${row.failed} runs failed, ${row.succeeded} succeeded`),
  },
];
