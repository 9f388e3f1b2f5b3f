import type { Database } from '#db/client.ts';
import { insertRefreshes } from '#db/queries/refreshes.ts';
import { transact } from '#db/transact.ts';
import { type Caller, ForbiddenError } from '#src/operations/operation.ts';
import { readCallerState } from '#src/operations/rights.ts';

/**
 * Records the games that an application requests, by a token and a session that have not ended at the commit.
 * @returns as `insertRefreshes`
 * @throws ForbiddenError
 */
export const refreshGames = (
  sql: Database,
  caller: Caller,
  application_game_ids: readonly string[],
): Promise<number | undefined> =>
  transact(sql, async (tx) => {
    const accepted = await insertRefreshes(tx, caller.actor.actor, application_game_ids);
    if ((await readCallerState(tx, caller)).hasEnded)
      throw new ForbiddenError('Request games: the token or the session has ended.');
    return accepted;
  });
