import { randomUUID } from 'node:crypto';
import { beforeAll } from 'vitest';
import type { Database } from '#db/client.ts';
import { type FetchedGame, upsertGames } from '#db/queries/games.ts';
import type { Lane } from '#src/contract/words.ts';
import { laneList } from '#src/lists/review.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { readPage, readPages, sourcesWith } from '#test/support/lists.ts';
import { decideGame } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

export const at = (minute: number): Date => new Date(Date.UTC(2026, 2, 1, 12, minute));

export type Game = FetchedGame;

/** Games of lanes in a database of their own, with what changes and reads them. */
export const useLaneGames = () => {
  const database = useTestDatabase();
  beforeAll(async () => {
    await addApplication(database.sql, 'acme');
    await addApplication(database.sql, 'other', { name: 'Other Games' });
  });

  /** Writes a new game. */
  const add = async (application_id = 'acme', game_name = 'Lantern') => {
    const game = fetchedGame({ game_id: randomUUID(), game_name }, at(0));
    await upsertGames(database.sql, application_id, [game]);
    return game;
  };

  const change = (game: Game, minute: number, application_id = 'acme') =>
    upsertGames(database.sql, application_id, [
      fetchedGame({ game_id: game.application_game_id, game_info: `minute ${minute}` }, at(minute)),
    ]);

  const decide = (game: Game, revision: number, audit_status: 'passed' | 'rejected' = 'passed') =>
    decideGame(database.sql, {
      game_id: game.game_id,
      revision,
      audit_status,
      ...(audit_status === 'rejected' && { reason: 'rights' }),
    });

  const readAll = async (lane: Lane, limit: number, filter: object = {}): Promise<string[]> => {
    const rows = await readPages(sourcesWith(database.sql), laneList, { ...filter, lane }, { limit });
    return rows.map(({ game_id }) => game_id);
  };

  return { database, add, change, decide, readAll };
};

export const lanesOf = async (sql: Database, game: Game): Promise<Lane[]> => {
  const lanes: Lane[] = [];
  for (const lane of ['new', 'changed'] as const) {
    const { rows: games } = await readPage(sql, laneList, { lane }, { limit: 500 });
    if (games.some(({ game_id }) => game_id === game.game_id)) lanes.push(lane);
  }
  return lanes;
};
