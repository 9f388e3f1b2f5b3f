import { fileURLToPath } from 'node:url';
import { type Fault, isDetail, underWay, workerAt } from '#test/fleet/faults/fault.ts';
import { differences } from '#test/fleet/snapshot.ts';
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

/** What becomes of workers' clocks. Postgres's own goes on. */
export const CLOCK_FAULTS: readonly Fault[] = [
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
