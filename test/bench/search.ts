import { pipeline } from 'node:stream/promises';
import type { Database } from '#db/client.ts';
import { gameList } from '#src/lists/games.ts';
import { gameLexemes } from '#src/rules/search-words.ts';
import { APPLICATIONS, say, withDatabase } from '#test/bench/api-database.ts';
import { MEASURE_HEAD, measure } from '#test/bench/measure.ts';
import { namedGame, searchesOf } from '#test/support/game-names.ts';
import { readPage } from '#test/support/lists.ts';

// A hundred searches among many games: how often the game is among the first ten, and how long each takes.
// `node test/bench/search.ts 1000000 [directory to keep the database in]`.
const FIRST_MS = 1_780_000_000_000;

const idOf = (n: number): string => {
  const hex = (FIRST_MS + n).toString(16).padStart(12, '0');
  return `${hex}7000${'8000'}${n.toString(16).padStart(12, '0')}`;
};

const escapeCopy = (text: string): string => text.replaceAll('\\', '\\\\');

function* lines(games: number): Generator<string> {
  for (let n = 0; n < games; n += 1) {
    const application_id = `app-${n % APPLICATIONS}`;
    const game = namedGame(n);
    const lexemes = gameLexemes(application_id, game).map((each) => `'${each}'`);
    const ids = [idOf(n), application_id, `${game.application_game_id}-${n}`];
    const content = [game.game_name, '{}', '', '', '{}', '', '', '2026-11-01'];
    yield `${[...ids, ...content, escapeCopy(lexemes.join(' '))].join('\t')}\n`;
  }
}

/** Loads the games without triggers, and makes the index and the words after, unless the kept database has them. */
const load = async (sql: Database, games: number): Promise<void> => {
  const [row] = await sql<{ has: boolean }[]>`select exists (select from games) as has`;
  if (row?.has) return;
  await sql`alter table games disable trigger user`;
  await sql`drop index games_search`;
  const copy = await sql`
    copy games (game_id, application_id, application_game_id, game_name, game_icon, game_desc, game_store_video,
      game_store_pic, content_hash, list_hash, fetched_at, search) from stdin`.writable();
  await pipeline(lines(games), copy);
  await sql`alter table games enable trigger user`;
  await sql`create index games_search on games using gin (search) with (gin_pending_list_limit = 512)`;
  await sql`
    insert into search_words (word, keys)
    select word, search_keys(word) from ts_stat('select search from games') where ascii(word) > 64`;
  await sql`select recount_games(true)`;
  await sql`vacuum analyze`;
};

const measureSearch = async (sql: Database, games: number): Promise<void> => {
  const [sizes] = await sql<{ games: string; index: string; words: string; known: number }[]>`
    select pg_size_pretty(pg_table_size('games')) as games, pg_size_pretty(pg_relation_size('games_search')) as index,
           pg_size_pretty(pg_total_relation_size('search_words')) as words,
           (select count(*)::int from search_words) as known`;
  say(JSON.stringify(sizes));
  const searches = searchesOf(games);
  const find = async (search: string) =>
    (await readPage(sql, gameList, { search }, { limit: 10 })).rows.map((game) => game.application_game_id);
  let found = 0;
  for (const { kind, search, wanted } of searches) {
    const isFound = (await find(search)).some((id) => id.startsWith(wanted));
    if (isFound) found += 1;
    else say(`not among the first ten, ${kind}: ${search}`);
  }
  say(`${found} of ${searches.length} are among the first ten\n${MEASURE_HEAD}`);
  await measure('all kinds', (round) => find(searches[round % searches.length]?.search ?? ''));
  for (const kind of new Set(searches.map((each) => each.kind))) {
    const some = searches.filter((each) => each.kind === kind);
    await measure(kind, (round) => find(some[round % some.length]?.search ?? ''));
  }
  const [common] = await sql<{ word: string }[]>`
    select word from ts_stat('select search from games limit 200000') where ascii(word) > 64 order by ndoc desc limit 1`;
  await measure(`the most common word (${common?.word})`, () => find(common?.word ?? ''));
  await measure('a word that no name has', () => find('qqqqxxxxzzzz'));
};

const [games = '1000000', kept] = process.argv.slice(2);
await withDatabase(async (sql) => {
  await load(sql, Number(games));
  await measureSearch(sql, Number(games));
}, kept);
