import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listFailedGameIds } from '#db/queries/failures.ts';
import type { ApplicationGameDetail } from '#src/contract/application.ts';
import { queryGameDetail } from '#src/ingest/specs.ts';
import { fleetBackend, startTestFleet, type TestFleet } from '#test/support/fleet.ts';
import { asSent, gamesOf } from '#test/support/landed.ts';
import { listFailures } from '#test/support/stored-rows.ts';

describe('A run whose details were not written', () => {
  let fleet: TestFleet;
  beforeEach(async () => {
    fleet = await startTestFleet(fleetBackend());
  });
  afterEach(() => fleet.stop());

  /** Every game is there, once, as it was sent. */
  const expectAll = async (sent: readonly ApplicationGameDetail[]) => {
    const rows = [...(await gamesOf(fleet.sql, 'acme')).values()].map(asSent);
    expect(rows.sort(byId)).toEqual([...sent].sort(byId));
  };

  /** The database refuses every transaction until this many attempts at details have failed. */
  const refuseWrites = (attempts: number): void => {
    const failed = () => fleet.log().match(/"job":"query-game-detail".*"msg":"job failed"/g)?.length ?? 0;
    fleet.deps.sql = new Proxy(fleet.sql, {
      get: (sql, key) =>
        key === 'begin' && failed() < attempts
          ? () => Promise.reject(new Error('the database is down'))
          : Reflect.get(sql, key),
    });
  };

  it('fetches details again that were not written at any attempt, and continues when they are', async () => {
    const { server } = await fleet.addApplication('acme', 250);
    refuseWrites(queryGameDetail.options.attempts);
    await fleet.startWorker();
    const run = await fleet.sync('acme', { full: true });
    expect(run).toMatchObject({ outcome: 'succeeded', listed: 250, inserted: 250, failed: 0 });
    expect(run.fence).toBe(2);
    await expectAll(server.games.all());
  });

  it('continues without details that are never written, and records which: the next run fetches them', async () => {
    const { server } = await fleet.addApplication('acme', 250);
    refuseWrites(3 * queryGameDetail.options.attempts);
    await fleet.startWorker();
    const run = await fleet.sync('acme');
    expect(run).toMatchObject({ outcome: 'partial', listed: 250, inserted: 150, failed: 100 });
    const landed = await gamesOf(fleet.sql, 'acme');
    const missed = server.games.all().filter((game) => !landed.has(game.game_id));
    expect(await listFailedGameIds(fleet.sql, 'acme')).toEqual(missed.map((game) => game.game_id).sort());
    const [failure] = await listFailures(fleet.sql, { limit: 1 });
    expect(failure).toMatchObject({ operation: 'query_game_detail', kind: 'internal' });

    expect(await fleet.sync('acme')).toMatchObject({ outcome: 'succeeded', inserted: 100, unchanged: 150 });
    await expectAll(server.games.all());
    expect(await listFailures(fleet.sql, { limit: 1 })).toEqual([]);
  });
});

const byId = (a: { game_id: string }, b: { game_id: string }): number => (a.game_id < b.game_id ? -1 : 1);
