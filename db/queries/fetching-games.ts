import type { Queryable } from '#db/client.ts';
import { listPicturedGames } from '#db/queries/picture-fetches.ts';
import { addressesOf, readPictureIds } from '#db/queries/pictures.ts';
import { readColumn } from '#db/rows.ts';
import type { PictureOutcome } from '#src/contract/pictures.ts';
import { isFetching } from '#src/rules/pictures.ts';

/** Finds the games of which a picture is still being fetched or stored. Locks the rows that it reads until the transaction ends. */
export const findFetchingGames = async (tx: Queryable, game_ids: readonly string[]): Promise<Set<string>> => {
  const games = await listPicturedGames(tx, game_ids);
  const idOf = await readPictureIds(tx, games);
  const idsOf = new Map(games.map((game) => [game.game_id, addressesOf(game).map(idOf)]));
  const ids = [...idsOf.values()].flat();
  const pictures = await tx<{ picture_id: string; outcome: PictureOutcome | null; sha256: string }[]>`
    select picture_id, outcome, encode(sha256, 'hex') as sha256 from pictures
    where picture_id = any(${ids}::uuid[]) order by picture_id for share`;
  const stored = await readColumn(tx<{ sha256: string }[]>`
    select encode(sha256, 'hex') from picture_contents
    where stored is not null and sha256 in (select sha256 from pictures where picture_id = any(${ids}::uuid[]))
    order by sha256 for share of picture_contents`);
  const isStored = new Set(stored);
  const states = new Map(
    pictures.map(({ picture_id, outcome, sha256 }) => [
      picture_id,
      { outcome, is_stored: isStored.has(sha256) },
    ]),
  );
  return new Set(
    [...idsOf].filter(([, ids]) => ids.some((id) => isFetching(states.get(id)))).map(([game_id]) => game_id),
  );
};
