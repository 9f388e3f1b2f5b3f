import { afterAll, expect, test } from 'vitest';
import { insertRefreshes } from '#db/queries/refreshes.ts';
import { sharedGround, withoutRedis } from '#test/fleet/ground.ts';
import { openWorld } from '#test/fleet/world.ts';
import { until } from '#test/support/until.ts';

const open = new AsyncDisposableStack();
afterAll(() => open.disposeAsync());

test.skipIf(withoutRedis('a silent start'))(
  'a worker whose chores met a silent Redis when they opened their queues serves pings once Redis answers',
  async () => {
    const world = open.use(await openWorld(sharedGround(), { applications: 1, games: 5 }));
    const [game] = world.first.games.all();
    if (game === undefined) throw new Error('the application has games');
    /** Changes the game, and waits until a ping has brought the change. */
    const ping = async (game_name: string): Promise<void> => {
      world.first.games.update(game.game_id, { game_name });
      await insertRefreshes(world.sql, 'app-0', [game.game_id]);
      await until(`the game is named ${game_name}`, async () => {
        const found = await world.sql`select from games where game_name = ${game_name}`;
        return found.length === 1;
      });
    };

    const control = await world.startWorker();
    await world.startRuns();
    await world.quiet();
    await ping('Before');
    const connections = world.redis.network.open();
    await control.kill();
    await until('its connections are closed', () => world.redis.network.open() === 0);

    // The chores open the last connection.
    world.redis.network.pauseAfter(connections - 1);
    const worker = await world.startWorker();
    await until('a chore has failed', () => worker.log().includes('chore failed'));
    world.redis.network.resume();
    await ping('After');
    expect(worker.log()).toContain('Redis did not answer in time');
    expect(world.crashes()).toBe(0);
  },
);
