import type { FleetApplication } from '#test/fleet/application.ts';
import type { Snapshot } from '#test/fleet/snapshot.ts';
import type { World, WorldOptions } from '#test/fleet/world.ts';
import { until } from '#test/support/until.ts';

/** Something that happens to a fleet in the middle of its runs. */
export type Fault = {
  name: string;
  /** Starts workers and runs, does its harm, and puts right what only the world outside can. */
  inject: (world: World) => Promise<void>;
  /** Requests for one page or game at most: one, and one more each time the work was interrupted. */
  mostCalls: number;
  /** Only where the queues live here; without it, wherever they live. */
  on?: World['queue']['kind'];
  world?: WorldOptions;
  /** Brings down what other worlds stand on. */
  alone?: boolean;
  /** Moves the clock of Postgres (`Ground.moveClock`), alone. */
  movesClock?: boolean;
  /** What is wrong, in words, in a world whose runs cannot equal those of an undisturbed one. */
  findWrong?: (world: World, expected: Snapshot) => Promise<string[]>;
};

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Which calls an application is to keep waiting. */
export type Blocked = Parameters<FleetApplication['block']>[0];
export const isList =
  (page_num: number): Blocked =>
  (call) =>
    call.operation === 'query_game_list' && call.page_num === page_num;
export const isDetail: Blocked = (call) => call.operation === 'query_game_detail';

/** A worker that is in the middle of a call of the first application, and runs of all. */
export const workerAt = async (
  world: World,
  at: Blocked,
  options: Parameters<World['startWorker']>[0] = {},
): ReturnType<World['startWorker']> => {
  world.first.block(at);
  const worker = await world.startWorker(options);
  await world.startRuns();
  await world.first.blocked(1);
  return worker;
};

/** What the first application's run has committed. */
export const progress = async ({ sql }: World) => {
  const rows = await sql<{ run_id: string; fence: number; next_page: number; open: number }[]>`
    select r.run_id, r.fence, r.next_page, coalesce(sum((select count(*) from jsonb_object_keys(p.open_games))), 0)::int as open
    from sync_runs r left join sync_run_pages p using (run_id)
    where r.application_id = 'app-0' and r.finished_at is null group by 1, 2, 3`;
  return rows[0];
};

/** On a machine that many worlds share. */
const UNDER_WAY_WITHIN_MS = 3 * 60_000;

/** Waits until runs have fetched some of their games. */
export const underWay = (world: World) =>
  until(
    'the runs are under way',
    async () => {
      const [row] = await world.sql<{ pages: number }[]>`
        select count(*)::int as pages from sync_run_pages p join sync_runs r using (run_id) where r.finished_at is null`;
      return (row?.pages ?? 0) >= 2;
    },
    UNDER_WAY_WITHIN_MS,
  );

export const twoWorkers = async (world: World) => {
  const workers = await Promise.all([world.startWorker(), world.startWorker()]);
  await world.startRuns();
  await underWay(world);
  return workers;
};
