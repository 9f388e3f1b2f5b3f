/** The search of games, for every front: by words of the name, with their parts and slips, and by ids. */
import type { Queryable } from '#db/client.ts';
import type { GameRow } from '#db/queries/games.ts';
import { readColumn } from '#db/rows.ts';
import type { AuditStatus } from '#src/contract/words.ts';
import {
  exactQuery,
  idQuery,
  likeliestWords,
  looseQuery,
  type Piece,
  partKeys,
  piecesOfQuery,
  scoreOfName,
  slipKeys,
  strictQuery,
  wordsOf,
} from '#src/rules/search-words.ts';

export type GameSearch = {
  search: string;
  audit_status?: AuditStatus | undefined;
  application_id?: string | undefined;
};

/** The most games that a search finds: the best ones. */
export const FOUND_MAX = 100;
/** Most games that are scored to find similar names, because a page waits for them, and each may be one read of a disk. */
const SCORED_NAMES_MAX = 30;
/** If the typed words find fewer games, the search also tries the words that may be meant. */
const ENOUGH = 10;
/** Most games that one query reads and scores. */
const CANDIDATES_MAX = 1_000;
/** Most games that are read to find those of one status, because a word may be in millions. */
const READ_MAX = 20_000;
/** Most words that are compared with a typed word because they share keys with it. */
const WORDS_MAX = 300;

const CANDIDATE = 'game_id, game_name, application_game_id, application_id, audit_status, withdrawn_at';
type Candidate = Pick<
  GameRow,
  'game_id' | 'game_name' | 'application_game_id' | 'application_id' | 'audit_status' | 'withdrawn_at'
>;

/** A game that a search finds. The score depends on the query and the game alone. */
export type FoundGame = Candidate & { score: number };

/**
 * Reads games that match a tsquery, in no order. `unsafe` does not prepare the statement, so Postgres plans each query by
 * itself. If nearly every game has the word, it reads the table, which is faster than the index. The query names the
 * application too, but the column decides, because a stolen worker may write the words of a game.
 */
const readMatches = (
  sql: Queryable,
  query: string,
  {
    application_id,
    audit_status,
    withWithdrawn = false,
    limit = CANDIDATES_MAX,
  }: Omit<GameSearch, 'search'> & { withWithdrawn?: boolean; limit?: number },
): Promise<Candidate[]> =>
  query === ''
    ? Promise.resolve([])
    : sql.unsafe<Candidate[]>(
        `select * from (
           select ${CANDIDATE} from games
           where search @@ $1::tsquery ${withWithdrawn ? '' : 'and withdrawn_at is null'}
           limit ${audit_status === undefined ? limit : READ_MAX}) as matching
         where ($2::text is null or audit_status = $2) and ($3::text is null or application_id = $3) limit ${limit}`,
        [query, audit_status ?? null, application_id ?? null],
      );

/** Digits of an id of the platform, or of its beginning. */
const DIGITS = /^[0-9a-f]{8,32}$/i;
const HEX_DIGITS = 32;
const digitsOf = (id: string): string => id.trim().replaceAll('-', '').toLowerCase();

const readByPlatformId = async (
  sql: Queryable,
  digits: string,
  { application_id = null, audit_status = null }: { [Key in keyof GameSearch]: GameSearch[Key] | null },
): Promise<Candidate[]> =>
  DIGITS.test(digits)
    ? sql<Candidate[]>`
        select ${sql.unsafe(CANDIDATE)} from games
        where game_id between ${digits.padEnd(HEX_DIGITS, '0')} and ${digits.padEnd(HEX_DIGITS, 'f')}
          and (${application_id}::text is null or application_id = ${application_id})
          and (${audit_status}::text is null or audit_status = ${audit_status})
        order by game_id limit ${FOUND_MAX}`
    : [];

/** Adds the words that a part of the query may mean. */
const withMeanings = async (sql: Queryable, piece: Piece): Promise<Piece> => {
  const { text, isCorrected } = piece;
  if (!isCorrected) return piece;
  const words = await readColumn(sql<{ word: string }[]>`
    (select word from search_words where keys @> ${partKeys(text)}::text[] limit ${WORDS_MAX})
    union (select word from search_words where keys && ${slipKeys(text)}::text[] limit ${WORDS_MAX})`);
  return { ...piece, means: likeliestWords(text, words) };
};

const findMeanings = (sql: Queryable, pieces: readonly Piece[]): Promise<Piece[]> =>
  Promise.all(pieces.map((piece) => withMeanings(sql, piece)));

/** Searches by name: first what is typed, then what may be meant, then games that lack a part of it. */
const readByName = async (
  sql: Queryable,
  { search, application_id, audit_status }: GameSearch,
): Promise<Candidate[]> => {
  const typed = piecesOfQuery(search);
  if (typed.length === 0) return [];
  // Among the games of one application, a game is found whatever became of it.
  const withWithdrawn = application_id !== undefined && audit_status === undefined;
  const read = (query: string) => readMatches(sql, query, { application_id, audit_status, withWithdrawn });
  const exact = await read(exactQuery(typed, application_id));
  if (exact.length >= ENOUGH) return exact;
  const strict = await read(strictQuery(typed, application_id));
  if (strict.length >= ENOUGH) return strict;
  const meant = await findMeanings(sql, typed);
  const likely = await read(strictQuery(meant, application_id));
  if (strict.length + likely.length > 0) return [...strict, ...likely];
  return read(looseQuery(meant, application_id));
};

/** Equal ids and beginnings of ours score above every name; beginnings of the application's below names with every word. */
const scoreOfId = (search: string, { game_id, application_game_id }: Candidate): number => {
  const typed = search.trim();
  const digits = digitsOf(typed);
  if (digits === digitsOf(game_id)) return 4;
  if (application_game_id === search || application_game_id === typed) return 3;
  if (DIGITS.test(digits) && digitsOf(game_id).startsWith(digits)) return 2;
  const isBeginning = application_game_id.toLowerCase().startsWith(typed.toLowerCase());
  return isBeginning ? 0.7 + (0.2 * typed.length) / application_game_id.length : 0;
};

type Scored = Pick<FoundGame, 'game_id' | 'score'>;

/** The best game first; of equal ones, the one that was first seen first. */
export const compareFound = (one: Scored, other: Scored): number =>
  other.score - one.score || one.game_id.localeCompare(other.game_id);

const bestOf = (games: readonly Candidate[], scoreOf: (game: Candidate) => number): FoundGame[] => {
  const found = new Map(games.map((game) => [game.game_id, { ...game, score: scoreOf(game) }]));
  return [...found.values()].sort(compareFound).slice(0, FOUND_MAX);
};

/**
 * Finds games by their name, in any order of its words, and by both of their ids. Withdrawn games are found by id, and by name
 * among all games of one application.
 * @returns the best first
 */
export const searchGames = async (sql: Queryable, filter: GameSearch): Promise<FoundGame[]> => {
  const { search, application_id, audit_status } = filter;
  const found = await Promise.all([
    readMatches(sql, idQuery(search, application_id), { application_id, audit_status, withWithdrawn: true }),
    readByPlatformId(sql, digitsOf(search), filter),
    readByName(sql, filter),
  ]);
  const words = wordsOf(search);
  return bestOf(found.flat(), (game) =>
    Math.max(scoreOfId(search, game), scoreOfName(words, game.game_name)),
  );
};

/**
 * Finds games whose name has all of these words, each as a whole word or with a slip. It reads few of them, because two
 * frequent words are in thousands of names.
 * @returns the best first
 */
export const searchNames = async (sql: Queryable, words: readonly string[]): Promise<FoundGame[]> => {
  const read = (pieces: readonly Piece[]) =>
    readMatches(sql, exactQuery(pieces, undefined), { limit: SCORED_NAMES_MAX });
  const pieces = piecesOfQuery(words.join(' '));
  const exact = await read(pieces);
  const likely = exact.length >= ENOUGH ? [] : await read(await findMeanings(sql, pieces));
  return bestOf([...exact, ...likely], ({ game_name }) => scoreOfName(words, game_name));
};
