import type { Database } from '#db/client.ts';
import { fillPins, listDriftedGames } from '#db/queries/picture-pins.ts';

/** Games that one transaction returns to `pending`. */
const BATCH = 500;

/** Returns games to review, with entries in the audit log. @returns those that have drifted */
export type ReopenGames = (drifted: { picture_id: string; game_ids: string[] }) => Promise<string[]>;

/**
 * Compares the bytes of a picture with those that decisions name, and returns the passed games to review whose decision
 * names others. Decisions that wait for the first bytes get these.
 * @returns the games
 */
export const comparePins = async (
  sql: Database,
  picture_id: string,
  reopenGames: ReopenGames,
): Promise<string[]> => {
  await fillPins(sql, picture_id);
  const reopened: string[] = [];
  for (;;) {
    const game_ids = await listDriftedGames(sql, picture_id, BATCH);
    if (game_ids.length === 0) return reopened;
    const games = await reopenGames({ picture_id, game_ids });
    // If a decision was made between the two statements, the next look or check finds what is left.
    if (games.length === 0) return reopened;
    reopened.push(...games);
  }
};
