/**
 * The words by which people find a game: those of its name, its `game_id` of the application, and its application.
 *
 * Names are compared without case, marks and width. A script that writes no spaces between its words is cut into pairs of
 * characters. `pg_trgm` would do neither, because in a database whose locale is C it sees no letter outside ASCII.
 */
import { distance } from 'fastest-levenshtein';

/** At most this many words of a name or a query are looked up. */
const WORDS_MAX = 24;
/** At most this many characters of a word are compared. */
const WORD_MAX = 48;
/** An id in the index is cut here, so that it stays below the limit of a lexeme. */
const ID_MAX = 200;
/** Letters of a word whose parts and slips are found. */
const CORRECTED = { min: 3, max: 24 };

const UNSPACED = String.raw`\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}`;
const WORD = new RegExp(String.raw`[${UNSPACED}]+|[[\p{L}\p{N}]--[${UNSPACED}]]+`, 'gv');
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]`, 'u');
const LETTERS = /^\p{L}+$/u;
/** Marks, the Arabic stroke that only widens a word, and apostrophes. */
const IGNORED = /[\p{Mn}\u0640'’ʼ]/gu;

const fold = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(IGNORED, '')
    .normalize('NFC')
    .replaceAll('ة', 'ه')
    .replaceAll('ى', 'ي');

/** The words of a text, as they are compared. */
export const wordsOf = (text: string): string[] => {
  const words = new Set<string>();
  for (const [word] of fold(text).matchAll(WORD)) {
    words.add(word.slice(0, WORD_MAX).toWellFormed());
    if (words.size === WORDS_MAX) break;
  }
  return [...words];
};

/** Can letters of this word be corrected? `search_words` has every such word. */
const isCorrected = (word: string): boolean =>
  word.length >= CORRECTED.min &&
  word.length <= CORRECTED.max &&
  LETTERS.test(word) &&
  !IS_UNSPACED.test(word);

const pairsOf = (word: string): string[] => {
  const characters = Array.from(word);
  return characters.map((character, index) => character + (characters[index + 1] ?? ''));
};

/** The last character of a name begins no pair, so it stands alone there. A query begins with its pairs. */
const piecesOf = (word: string, isQuery: boolean): string[] => {
  if (!IS_UNSPACED.test(word)) return [word];
  const pairs = pairsOf(word);
  return isQuery && pairs.length > 1 ? pairs.slice(0, -1) : pairs;
};

/** Makes the lexeme of an application's id of a game. */
const idLexeme = (application_game_id: string): string =>
  `#${application_game_id.toLowerCase().slice(0, ID_MAX).toWellFormed()}`;
const applicationLexeme = (application_id: string): string => `@${application_id}`;
/** A word that cannot be corrected has a mark, so that the trigger `games_words` leaves it out of `search_words`. */
const wordLexeme = (word: string): string => (isCorrected(word) ? word : `+${word}`);

/** The lexemes of a game. The column `games.search` has them. */
export const gameLexemes = (
  application_id: string,
  { application_game_id, game_name }: { application_game_id: string; game_name: string },
): string[] => [
  idLexeme(application_game_id),
  applicationLexeme(application_id),
  ...new Set(
    wordsOf(game_name)
      .flatMap((word) => piecesOf(word, false))
      .slice(0, WORDS_MAX)
      .map(wordLexeme),
  ),
];

const quote = (lexeme: string): string => `'${lexeme.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;

/** The beginning of a word is looked up from this many letters on, because fewer begin too many words. */
export const BEGINNING_MIN = 3;

const beginsWith = (piece: string): string => {
  if (piece.length < BEGINNING_MIN && !IS_UNSPACED.test(piece)) return quote(`+${piece}`);
  const marked = `${quote(`+${piece}`)}:*`;
  return IS_UNSPACED.test(piece) ? marked : `${quote(piece)}:* | ${marked}`;
};

const within = (application_id: string | undefined, query: string): string =>
  application_id === undefined ? query : `${quote(applicationLexeme(application_id))} & (${query})`;

/** The `tsquery` of the games whose id of the application is this, or begins with it. */
export const idQuery = (typed: string, application_id: string | undefined): string =>
  within(
    application_id,
    [typed, typed.trim()]
      .map((id) => `${quote(idLexeme(id))}${id.trim().length < BEGINNING_MIN ? '' : ':*'}`)
      .join(' | '),
  );

/** One part of a query, and the words of `search_words` that it may mean. */
export type Piece = { text: string; isCorrected: boolean; means: readonly string[] };

/** The parts of a query, the longest first, because they are the rarest. */
export const piecesOfQuery = (typed: string): Piece[] =>
  wordsOf(typed)
    .flatMap((word) => piecesOf(word, true))
    .sort((a, b) => b.length - a.length)
    .slice(0, 8)
    .map((text) => ({ text, isCorrected: isCorrected(text), means: [] }));

const oneOf = ({ text, means }: Piece): string => [beginsWith(text), ...means.map(quote)].join(' | ');
const allOf = (pieces: readonly Piece[]): string => pieces.map((piece) => `(${oneOf(piece)})`).join(' & ');
const anyOf = (queries: readonly string[]): string => queries.map((query) => `(${query})`).join(' | ');

/** The lexemes of the index that stand for the parts of a name. */
export const lexemesOf = (pieces: readonly Piece[]): string[] => pieces.map(({ text }) => wordLexeme(text));

/**
 * The `tsquery` of the games that have every part as a whole word, or as a word that it may mean. If words are common, far
 * fewer games have the whole word than a word that begins with it.
 */
export const exactQuery = (pieces: readonly Piece[], application_id: string | undefined): string =>
  within(
    application_id,
    pieces
      .map(({ text, means }) => [
        IS_UNSPACED.test(text) ? beginsWith(text) : quote(wordLexeme(text)),
        ...means.map(quote),
      ])
      .map((either) => `(${either.join(' | ')})`)
      .join(' & '),
  );

/** The `tsquery` of the games that have every part. */
export const strictQuery = (pieces: readonly Piece[], application_id: string | undefined): string =>
  within(application_id, allOf(pieces));

/** Of a query with at most this many parts, one is enough. */
const FEW_PARTS = 3;

/** The `tsquery` of the games that have one of a few parts; of more, that lack one part or have half of them. */
export const looseQuery = (pieces: readonly Piece[], application_id: string | undefined): string =>
  within(
    application_id,
    anyOf(
      pieces.length <= FEW_PARTS
        ? pieces.map(oneOf)
        : pieces.flatMap((_, left) => [
            allOf(pieces.filter((_each, index) => index !== left)),
            allOf([...pieces, ...pieces].slice(left, left + Math.ceil(pieces.length / 2))),
          ]),
    ),
  );

/** The keys of `search_words` that a word with at most one slip shares with what is typed. The function `search_keys` makes them. */
export const slipKeys = (word: string): string[] => [
  `~${word}`,
  ...Array.from(word, (_, index) => `~${word.slice(0, index)}${word.slice(index + 1)}`),
];

/** The keys that a word with this part has. */
export const partKeys = (word: string): string[] =>
  Array.from({ length: word.length - 2 }, (_, index) => word.slice(index, index + 3));

/** How many words of `search_words` one typed word may mean. */
const MEANINGS_MAX = 12;

/** The words that a typed word most likely means. */
export const likeliestWords = (typed: string, candidates: readonly string[]): string[] => {
  const slips = (word: string): number =>
    word.includes(typed) ? (word.length - typed.length) / WORD_MAX : distance(typed, word);
  return [...new Set(candidates)].sort((a, b) => slips(a) - slips(b)).slice(0, MEANINGS_MAX);
};

/** Scores how well a word of a name matches a typed one, from 0 to 1. */
const likeness = (typed: string, word: string): number => {
  if (typed === word) return 1;
  if (word.startsWith(typed)) return 0.9;
  if (word.includes(typed)) return 0.8;
  return Math.max(0, 0.8 * (1 - distance(typed, word) / Math.max(typed.length, word.length)));
};

/** Does a name have each of these words, as a word or within one? */
export const hasWords = (typed: readonly string[], game_name: string): boolean => {
  const words = wordsOf(game_name);
  return typed.every((each) => words.some((word) => word.includes(each)));
};

/** Scores how well a name matches a query: first by its words, then by how little else it has. */
export const scoreOfName = (typed: readonly string[], game_name: string): number => {
  const words = wordsOf(game_name);
  const best = typed.map((each) => words.reduce((most, word) => Math.max(most, likeness(each, word)), 0));
  const length = words.join('').length;
  return (
    best.reduce((sum, each) => sum + each, 0) / Math.max(1, typed.length) - Math.min(length, 200) / 10_000
  );
};
