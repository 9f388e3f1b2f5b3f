import type { Queryable } from '#db/client.ts';
import { listPicturedGames } from '#db/queries/picture-fetches.ts';
import { addressesOf, type PictureAddress, type PictureView, readPictureIds } from '#db/queries/pictures.ts';
import { readColumn } from '#db/rows.ts';
import { isFetching, outcomeAt } from '#src/rules/pictures.ts';

/** Finds the games of which a picture is still being fetched or stored. Locks the rows that it reads until the transaction ends. */
export const findFetchingGames = async (tx: Queryable, game_ids: readonly string[]): Promise<Set<string>> => {
  const games = await listPicturedGames(tx, game_ids);
  const idOf = await readPictureIds(tx, games);
  const ids = games.flatMap((game) => addressesOf(game).map(idOf));
  const pictures = await tx<Pick<PictureView, 'picture_id' | 'url' | 'outcome' | 'fetched_at' | 'sha256'>[]>`
    select picture_id, url, outcome, fetched_at, encode(sha256, 'hex') as sha256 from pictures
    where picture_id = any(${ids}::uuid[]) order by picture_id for share`;
  const stored = await readColumn(tx<{ sha256: string }[]>`
    select encode(sha256, 'hex') from picture_contents
    where stored is not null and sha256 in (select sha256 from pictures where picture_id = any(${ids}::uuid[]))
    order by sha256 for share of picture_contents`);
  const isStored = new Set(stored);
  const byId = new Map(pictures.map((picture) => [picture.picture_id, picture]));
  const isAwaited = (address: PictureAddress): boolean => {
    const picture = byId.get(idOf(address));
    return isFetching(
      picture && {
        outcome: outcomeAt(address.url, picture, new Date()),
        is_stored: isStored.has(picture.sha256 ?? ''),
      },
    );
  };
  return new Set(games.filter((game) => addressesOf(game).some(isAwaited)).map(({ game_id }) => game_id));
};
