import { randomUUID } from 'node:crypto';
import { beforeAll } from 'vitest';
import { findGame, listAudits, upsertGames } from '#db/queries/games.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

export const LEE = { actor: 'lee', actor_kind: 'operator' } as const;
export const PASS = { audit_status: 'passed' } as const;
export const REJECT = { audit_status: 'rejected', reason: 'incomplete' } as const;

const at = (minute: number): Date => new Date(Date.UTC(2026, 2, 1, 12, minute));

/** Pairs of games and their first revision. */
export const atFirstRevision = (game_ids: readonly string[]) =>
  game_ids.map((game_id) => ({ game_id, revision: 1 }));

/** A database with one application, whose games a test adds, changes and decides on. */
export const useDecidedGames = () => {
  const database = useTestDatabase();
  beforeAll(() => addApplication(database.sql, 'acme'));
  /** @returns the ids of new games, in their order in a lane */
  const add = async (count: number): Promise<string[]> => {
    const games = Array.from({ length: count }, () => fetchedGame({ game_id: randomUUID() }, at(0)));
    await upsertGames(database.sql, 'acme', games);
    // Ids of one millisecond are in no order.
    return games.map(({ game_id }) => game_id).sort();
  };
  return {
    database,
    add,
    addOne: async (): Promise<string> => (await add(1))[0] as string,
    change: async (game_id: string, minute: number, text = `minute ${minute}`) => {
      const game = await findGame(database.sql, game_id);
      await upsertGames(database.sql, 'acme', [
        fetchedGame({ game_id: game?.application_game_id ?? '', game_info: text }, at(minute)),
      ]);
    },
    /** The id of the last decision on a game. */
    lastOf: async (game_id: string): Promise<number> =>
      (await listAudits(database.sql, game_id))[0]?.audit_id ?? 0,
  };
};
