import type { Queryable } from '#db/client.ts';
import { searchGames } from '#db/queries/game-search.ts';
import type { GameRow } from '#db/queries/games.ts';
import { scoreOfName, wordsOf } from '#src/rules/search-words.ts';

export type SimilarName = Pick<
  GameRow,
  'game_id' | 'game_name' | 'application_id' | 'audit_status' | 'withdrawn_at'
> & { application_name: string };

/** Of the games that a search for the name finds, those that are compared. */
const COMPARED_MAX = 30;
/** A name that has nearly every word, or one slip in it, is similar. */
const SIMILAR = 0.75;

/** Finds games of nearly the same name: those of other applications first, then the most similar. */
export const listSimilarNames = async (
  sql: Queryable,
  { game_id, game_name, application_id }: Pick<GameRow, 'game_id' | 'game_name' | 'application_id'>,
  limit: number,
): Promise<SimilarName[]> => {
  // A number beside the same words is a series, or a copy.
  const words = wordsOf(game_name).filter((word) => /\p{L}/u.test(word));
  if (words.length === 0) return [];
  const found = (await searchGames(sql, { search: words.join(' ') }))
    .map((game) => game.game_id)
    .filter((id) => id !== game_id);
  const games = await sql<SimilarName[]>`
    select game_id, game_name, application_id, audit_status, withdrawn_at, a.name as application_name
    from unnest(${found.slice(0, COMPARED_MAX)}::uuid[]) with ordinality as found (game_id, place)
    join games using (game_id) join applications a using (application_id)
    where withdrawn_at is null
    order by application_id = ${application_id}, place`;
  return games.filter((game) => scoreOfName(words, game.game_name) > SIMILAR).slice(0, limit);
};
