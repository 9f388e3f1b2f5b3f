import type { Database } from '#db/client.ts';
import { lockGames } from '#db/queries/decisions.ts';
import { fillPins, listDrifted, returnDrifted } from '#db/queries/picture-pins.ts';

/** Games that one transaction returns to `pending`. */
const BATCH = 500;

/**
 * Returns the passed games to `pending` whose decision names other bytes of a picture than it has now, and records why
 * (`picture_changes`) in the same transaction. Decisions that wait for the first bytes get these.
 * @returns the games
 */
export const applyPins = async (sql: Database, picture_id: string): Promise<string[]> => {
  await fillPins(sql, picture_id);
  const moved: string[] = [];
  for (;;) {
    const game_ids = await listDrifted(sql, picture_id, BATCH);
    if (game_ids.length === 0) return moved;
    const returned = await sql.begin(async (tx) => {
      await lockGames(tx, game_ids);
      return returnDrifted(tx, picture_id, game_ids);
    });
    // A decision was made between the two statements: the next look or check finds what is left.
    if (returned.length === 0) return moved;
    moved.push(...returned);
  }
};
