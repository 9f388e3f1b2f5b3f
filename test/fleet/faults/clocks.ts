import { fileURLToPath } from 'node:url';
import { type Fault, isDetail, underWay, workerAt } from '#test/fleet/faults/fault.ts';
import { until } from '#test/support/until.ts';

const CLOCK = fileURLToPath(new URL('../wrong-clock.ts', import.meta.url));

const REFUSE_GAMES = `
  create function refuse_games() returns trigger language plpgsql as
    $$ begin raise exception 'not now' using errcode = '57P03'; end $$;
  create trigger refuse_games before insert or update on games execute function refuse_games()`;

/** What becomes of workers' clocks. Postgres's own goes on. */
export const CLOCK_FAULTS: readonly Fault[] = [
  {
    name: "one worker's clock an hour ahead, another's an hour behind",
    mostCalls: 3,
    inject: async (world) => {
      const ahead = await world.startWorker({ preload: `${CLOCK}?1` });
      await world.startRuns();
      await underWay(world);
      await world.startWorker({ preload: `${CLOCK}?-1` });
      await ahead.kill();
    },
  },
  {
    name: 'SIGKILL during detail calls of a worker whose clock was a day ahead',
    mostCalls: 2,
    inject: async (world) => {
      const ahead = await workerAt(world, isDetail, { preload: `${CLOCK}?24` });
      await ahead.kill();
      await world.startWorker();
      world.first.release();
    },
  },
  {
    name: 'a job delayed for its next attempt by a worker whose clock was a day ahead',
    mostCalls: 2,
    inject: async (world) => {
      const ahead = await workerAt(world, isDetail, { preload: `${CLOCK}?24` });
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
