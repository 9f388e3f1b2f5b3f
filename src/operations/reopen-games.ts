import { z } from 'zod';
import type { Database } from '#db/client.ts';
import { lockGames } from '#db/queries/decisions.ts';
import { returnDriftedGames } from '#db/queries/picture-pins.ts';
import { operateAsSystem } from '#src/operations/operate.ts';
import { defineOperation } from '#src/operations/operation.ts';
import type { ReopenGames } from '#src/pictures/compare-pins.ts';

export const reopenGames = defineOperation({
  name: 'game.reopen',
  title: 'Return passed games to review, because a picture has other bytes than the decision saw',
  right: 'system',
  input: z.object({ picture_id: z.guid(), game_ids: z.array(z.guid()) }),
  subject: () => 'game:*',
  run: async (tx, { picture_id, game_ids }) => {
    await lockGames(tx, game_ids);
    return returnDriftedGames(tx, picture_id, game_ids);
  },
  log: (games, { picture_id }) =>
    games.map(({ game_id, audit_id }) => ({
      subject: `game:${game_id}`,
      reason: 'a picture has other bytes than the decision saw',
      details: { audit_id, picture_id },
    })),
  after: async (games) => games.map(({ game_id }) => game_id),
});

/** Creates the function with which the media process returns drifted games to review. */
export const createReopenGames =
  (sql: Database): ReopenGames =>
  (drifted) =>
    operateAsSystem(reopenGames, drifted, 'media', sql);
