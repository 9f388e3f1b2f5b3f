import { fileURLToPath } from 'node:url';
import { type Fault, isDetail, pause, twoWorkers, underWay, workerAt } from '#test/fleet/faults/fault.ts';
import { differences, lastingRows } from '#test/fleet/snapshot.ts';
import type { World } from '#test/fleet/world.ts';
import { until } from '#test/support/until.ts';

const CLOCK = fileURLToPath(new URL('../wrong-clock.ts', import.meta.url));

const REFUSE_GAMES = `
  create function refuse_games() returns trigger language plpgsql as
    $$ begin raise exception 'not now' using errcode = '57P03'; end $$;
  create trigger refuse_games before insert or update on games execute function refuse_games()`;

const REFUSES = 'no job is taken: the clock of this machine is';

/** A worker whose clock is right until it is in the middle of a call of the first application, and then this wrong. */
const jumpedWorker = async (world: World, hours: string) => {
  const worker = await workerAt(world, isDetail, { preload: `${CLOCK}?0,${hours}` });
  worker.signal('SIGUSR2');
  await until('it takes no more jobs', () => worker.log().includes(REFUSES));
  return worker;
};

/** For this time, Postgres's clock is wrong. */
const WRONG_MS = 15_000;

/** Postgres's clock: wrong in the middle of runs, and then set right. */
const databaseClock = (hours: number): Fault => ({
  name: `Postgres's clock is an hour ${hours > 0 ? 'ahead' : 'behind'}, and then right again`,
  mostCalls: 5,
  movesClock: true,
  inject: async (world) => {
    const workers = await twoWorkers(world);
    await world.ground.moveClock?.(hours);
    for (const worker of workers) await until('it takes no more jobs', () => worker.log().includes(REFUSES));
    await pause(WRONG_MS);
    await world.ground.moveClock?.(0);
  },
  // A result of an hour ago is not written over a later one: the next run has what the disturbed one dropped. Nor does a
  // time in the future keep later content out.
  findWrong: async (world, expected) => {
    const all = world.applications.map(({ application_id }) => application_id);
    await world.startRuns();
    await world.quiet();
    const wrong = differences(lastingRows(expected, all), lastingRows(await world.snapshot(), all));
    const texts = world.applications.map(({ application_id, games }) => {
      const game_id = games.all()[0]?.game_id ?? '';
      games.update(game_id, { game_info: 'changed after the clock' });
      return { application_id, game_id };
    });
    await world.startRuns();
    await world.quiet();
    for (const { application_id, game_id } of texts) {
      const [row] = await world.sql<{ game_desc: string }[]>`
        select game_desc from games where application_id = ${application_id} and application_game_id = ${game_id}`;
      if (row?.game_desc !== 'changed after the clock')
        wrong.push(`${application_id}: ${game_id} is not updated`);
    }
    return wrong;
  },
});

/** What becomes of clocks: a worker's, while Postgres's own goes on, or Postgres's. */
export const CLOCK_FAULTS: readonly Fault[] = [
  databaseClock(1),
  databaseClock(-1),
  {
    name: "one worker's clock an hour ahead, another's an hour behind, and a third's right",
    mostCalls: 2,
    inject: async (world) => {
      const wrong = [
        await world.startWorker({ preload: `${CLOCK}?1` }),
        await world.startWorker({ preload: `${CLOCK}?-1` }),
      ];
      await world.startRuns();
      for (const worker of wrong) await until('it takes no job', () => worker.log().includes(REFUSES));
      await world.startWorker();
    },
    findWrong: async (world, expected) => {
      const wrong = differences(expected, await world.snapshot());
      return world.workers.some(
        (worker) => worker.log().includes('"page listed"') && worker.log().includes(REFUSES),
      )
        ? [...wrong, 'a worker whose clock was wrong read a page']
        : wrong;
    },
  },
  {
    name: 'SIGKILL during detail calls of a worker whose clock was a day ahead',
    mostCalls: 2,
    inject: async (world) => {
      const ahead = await jumpedWorker(world, '24');
      await ahead.kill();
      await world.startWorker();
      world.first.release();
    },
  },
  {
    name: 'a job delayed for its next attempt by a worker whose clock was a day ahead',
    mostCalls: 2,
    inject: async (world) => {
      const ahead = await jumpedWorker(world, '24');
      await world.sql.unsafe(REFUSE_GAMES);
      world.first.release();
      await until('a job was delayed', () => ahead.log().includes('"job failed"'));
      await ahead.kill();
      await world.sql`drop function refuse_games cascade`;
      await world.startWorker();
    },
  },
  {
    name: "a worker's clock jumps: three hours ahead, six back, and right again",
    mostCalls: 3,
    inject: async (world) => {
      const worker = await workerAt(world, isDetail, { preload: `${CLOCK}?0,3,-3,0` });
      worker.signal('SIGUSR2');
      world.first.release();
      await underWay(world);
      worker.signal('SIGUSR2');
      await world.startWorker();
      worker.signal('SIGUSR2');
    },
  },
];
