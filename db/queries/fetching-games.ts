import type { Queryable } from '#db/client.ts';
import { readIdentityRules } from '#db/queries/addresses.ts';
import { listPicturedGames } from '#db/queries/picture-fetches.ts';
import { addressesOf } from '#db/queries/pictures.ts';
import { readColumn } from '#db/rows.ts';
import type { PictureOutcome } from '#src/contract/pictures.ts';
import { isFetching, pictureId } from '#src/rules/pictures.ts';

/**
 * Finds the games of which a picture is still being fetched, or stored. What it reads stays until the transaction ends.
 */
export const findFetchingGames = async (tx: Queryable, game_ids: readonly string[]): Promise<Set<string>> => {
  const games = await listPicturedGames(tx, game_ids);
  const ruleOf = await readIdentityRules(
    tx,
    games.map(({ application_id }) => application_id),
  );
  const idsOf = new Map(
    games.map((game) => [
      game.game_id,
      addressesOf(game).map(({ application_id, url }) =>
        pictureId(application_id, url, ruleOf(application_id)),
      ),
    ]),
  );
  const pictures = await tx<{ picture_id: string; outcome: PictureOutcome | null; sha256: Buffer | null }[]>`
    select picture_id, outcome, sha256 from pictures
    where picture_id = any(${[...idsOf.values()].flat()}::uuid[]) order by picture_id for share`;
  const stored = await readColumn(tx<{ sha256: string }[]>`
    select encode(sha256, 'hex') from picture_contents
    where sha256 = any(${pictures.flatMap(({ sha256 }) => sha256 ?? [])}::bytea[]) and stored is not null
    order by sha256 for share`);
  const isStored = new Set(stored);
  const states = new Map(
    pictures.map(({ picture_id, outcome, sha256 }) => [
      picture_id,
      { outcome, is_stored: isStored.has(sha256?.toString('hex') ?? '') },
    ]),
  );
  return new Set(
    [...idsOf].filter(([, ids]) => ids.some((id) => isFetching(states.get(id)))).map(([game_id]) => game_id),
  );
};
