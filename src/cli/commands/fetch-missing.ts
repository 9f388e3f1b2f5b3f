import { setTimeout as sleep } from 'node:timers/promises';
import { findFetchingGames } from '#db/queries/fetching-games.ts';
import type { CommandContext } from '#src/cli/kit/context.ts';
import { formatCount } from '#src/cli/kit/format.ts';

const POLL_MS = 250;
/** A game whose pictures take longer is not passed, so the operator retries. */
const WAIT_MS = 60_000;

/** Adds jobs for missing pictures of games that are about to be passed, and waits for them. Does nothing without a store of pictures. */
export const fetchMissing = async (
  { pictures, openDatabase, openQueues, out }: CommandContext,
  games: readonly { game_id: string }[],
): Promise<void> => {
  if (pictures.store === undefined) return;
  const sql = await openDatabase();
  const find = (game_ids: readonly string[]) => findFetchingGames(sql, game_ids);
  let missing = await find(games.map(({ game_id }) => game_id));
  if (missing.size === 0) return;
  const { fetchPictures, PICTURED_GAMES_MAX } = await import('#src/ingest/specs.ts');
  const { producer } = await openQueues();
  const wanted = [...missing];
  for (let from = 0; from < wanted.length; from += PICTURED_GAMES_MAX)
    await producer.add(fetchPictures, {
      game_ids: wanted.slice(from, from + PICTURED_GAMES_MAX),
      icons_only: false,
    });
  out.note(`Pictures of ${formatCount(missing.size, 'game')} are being fetched.`);
  const end = performance.now() + WAIT_MS;
  while (missing.size > 0 && performance.now() < end) {
    await sleep(POLL_MS);
    missing = await find([...missing]);
  }
};
