import type { Database } from '#db/client.ts';
import { insertRefreshes } from '#db/queries/refreshes.ts';
import { hasTokenEnded } from '#db/queries/tokens.ts';
import { transact } from '#db/transact.ts';
import { ForbiddenError } from '#src/operations/operation.ts';

/**
 * Records the games that an application requests, by a token that has not ended at the commit.
 * @returns as `insertRefreshes`
 * @throws ForbiddenError
 */
export const refreshGames = (
  sql: Database,
  { application_id, token_id }: { application_id: string; token_id: string },
  application_game_ids: readonly string[],
): Promise<number | undefined> =>
  transact(sql, async (tx) => {
    const accepted = await insertRefreshes(tx, application_id, application_game_ids);
    if (await hasTokenEnded(tx, token_id))
      throw new ForbiddenError('Request games: the token or the session has ended.');
    return accepted;
  });
