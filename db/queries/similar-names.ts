import type { Database, Queryable } from '#db/client.ts';
import { type FoundGame, searchNames } from '#db/queries/game-search.ts';
import type { GameRow } from '#db/queries/games.ts';
import { readColumn } from '#db/rows.ts';
import { isPostgresError, QUERY_CANCELED } from '#db/sqlstate.ts';
import { coerceError } from '#src/errors.ts';
import { exactQuery, lexemesOf, piecesOfQuery, wordsOf } from '#src/rules/search-words.ts';

export type SimilarName = FoundGame & { application_name: string };

/** A name that has nearly every word, or one slip in it, is similar. */
const SIMILAR = 0.75;

/** The words by which a name is compared. Numbers are left out, because a name that differs in a number alone is of a series, or a copy. */
const comparedWords = (game_name: string): string[] =>
  wordsOf(game_name).filter((word) => /\p{L}/u.test(word));

/** Finds games of nearly the same name: those of other applications first, then the most similar. */
export const listSimilarNames = async (
  sql: Queryable,
  { game_id, game_name, application_id }: Pick<GameRow, 'game_id' | 'game_name' | 'application_id'>,
  limit: number,
): Promise<SimilarName[]> => {
  const words = comparedWords(game_name);
  if (words.length === 0) return [];
  const similar = (await searchNames(sql, words)).filter(
    (game) => game.game_id !== game_id && game.score > SIMILAR,
  );
  const isOwn = (game: FoundGame) => game.application_id === application_id;
  const shown = [...similar.filter((game) => !isOwn(game)), ...similar.filter(isOwn)].slice(0, limit);
  const applications = await sql<{ application_id: string; name: string }[]>`
    select application_id, name from applications
    where application_id = any(${shown.map((game) => game.application_id)}::text[])`;
  const names = new Map(applications.map((row) => [row.application_id, row.name]));
  return shown.map((game) => ({ ...game, application_name: names.get(game.application_id) ?? '' }));
};

/** The limit of each statement, because words of new games may be in many names and not yet in the statistics. */
const LOOKUP_MS = 1_000;
/** If more games than this have a word, it tells little, and reading them takes long. */
const COMMON = 3_000;

/** Finds the lexemes that more than `COMMON` games have, by the statistics of the table. */
const findCommonLexemes = async (sql: Queryable, lexemes: readonly string[]): Promise<Set<string>> =>
  new Set(
    await readColumn(sql<{ lexeme: string }[]>`
      select common.lexeme from pg_stats s,
        unnest(s.most_common_elems::text::text[], s.most_common_elem_freqs) as common (lexeme, share)
      where s.schemaname = current_schema() and s.tablename = 'games' and s.attname = 'search'
        and common.lexeme = any(${lexemes as string[]})
        and common.share * (select reltuples from pg_class where oid = 'games'::regclass) > ${COMMON}`),
  );

const findSharedNames = async (sql: Queryable, game_ids: readonly string[]): Promise<string[]> => {
  const games = await sql<Pick<GameRow, 'game_id' | 'game_name' | 'application_id'>[]>`
    select game_id, game_name, application_id from games where game_id = any(${game_ids as string[]}::uuid[])`;
  const named = games.map((game) => ({
    ...game,
    pieces: piecesOfQuery(comparedWords(game.game_name).join(' ')),
  }));
  const common = await findCommonLexemes(
    sql,
    named.flatMap(({ pieces }) => lexemesOf(pieces)),
  );
  const compared = named.filter(({ pieces }) => lexemesOf(pieces).some((lexeme) => !common.has(lexeme)));
  if (compared.length === 0) return [];
  const lookups = compared.map((_, index) => {
    const [id, query, application] = [1, 2, 3].map((n) => `$${index * 3 + n}`);
    return `select ${id}::uuid as game_id where exists (select from games where search @@ ${query}::tsquery
      and withdrawn_at is null and application_id <> ${application})`;
  });
  // Not prepared, so that each lookup is planned for its own words.
  return readColumn(
    sql.unsafe<{ game_id: string }[]>(
      lookups.join(' union all '),
      compared.flatMap(({ game_id, pieces, application_id }) => [
        game_id,
        exactQuery(pieces, undefined),
        application_id,
      ]),
    ),
  );
};

/**
 * Returns those of the given games that share their name with a game of another application. The order of words does not
 * matter. A game whose words are all common is left out, so each lookup reads at most `COMMON` entries of the index by its
 * rarest word. Names with a slip are found by `listSimilarNames` alone.
 * @returns none if the lookups take long
 */
export const listSharedNames = (sql: Database, game_ids: readonly string[]): Promise<string[]> =>
  sql
    .begin(async (tx) => {
      await tx`select set_config('statement_timeout', ${String(LOOKUP_MS)}, true)`;
      return findSharedNames(tx, game_ids);
    })
    .catch((thrown: unknown) => {
      if (isPostgresError(coerceError(thrown), QUERY_CANCELED)) return [];
      throw thrown;
    });
