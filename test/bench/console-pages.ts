// How long the console takes to answer with each page, over HTTP:
// `node test/bench/console-pages.ts 1000000 [directory to keep the database in]`.
import { openDatabase } from '#db/client.ts';
import { laneList } from '#src/lists/review.ts';
import { say, withDatabase } from '#test/bench/api-database.ts';
import { serveConsole } from '#test/bench/console.ts';
import { loadRuns } from '#test/bench/loaded-runs.ts';
import { MEASURE_HEAD, measure } from '#test/bench/measure.ts';
import { FREQUENT_WORD, loadReviewedGames } from '#test/bench/reviewed-games.ts';
import { addTestOperator, signIn } from '#test/support/console.ts';
import { readPage } from '#test/support/lists.ts';

const RUNS = 100_000;
const ROUNDS = 60;

const [games = '10000', kept] = process.argv.slice(2);
await withDatabase(async (loader, databaseUrl) => {
  await using stack = new AsyncDisposableStack();
  const sql = stack.adopt(openDatabase(databaseUrl, { max: 10 }), (pool) => pool.end({ timeout: 5 }));
  await loadReviewedGames(loader, Number(games));
  await loadRuns(loader, RUNS);
  const url = await serveConsole(sql, databaseUrl, stack);
  const login = `bench-${Date.now()}`;
  await addTestOperator(sql, login, 'reviewer', 'admin');
  const cookie = await signIn(url, login);

  const [run] = await sql<{ run_id: string }[]>`select run_id from sync_runs limit 1`;
  const fresh = (await readPage(sql, laneList, {}, { limit: 200 })).rows;
  const changed = (await readPage(sql, laneList, { lane: 'changed' }, { limit: 200 })).rows;
  await loader`
    insert into game_revisions (game_id, revision, game_name, game_icon, game_desc, game_store_video, game_store_pic,
      content_hash, fetched_at)
    select game_id, 1, game_name, game_icon, game_desc, game_store_video, game_store_pic, content_hash, fetched_at
    from games where game_id = any(${fresh.map(({ game_id }) => game_id)}::uuid[])
    on conflict do nothing`;
  const oneOf = (rows: readonly { game_id: string }[], round: number) => rows[round % rows.length]?.game_id;
  const pages: Record<string, (round: number) => string> = {
    overview: () => '/',
    'review, new lane': () => '/review',
    'review, changed lane': () => '/review?lane=changed',
    'review of one application': () => '/review?application=app-50',
    'a new game': (round) => `/games/${oneOf(fresh, round)}`,
    'a changed game': (round) => `/games/${oneOf(changed, round)}?lane=changed`,
    games: () => '/games',
    'games that are passed': () => '/games?status=passed',
    'games with a frequent text': () => `/games?q=${FREQUENT_WORD}`,
    'games with a text that no name has': () => '/games?q=nothing-has-this-name',
    'a game by its own id': (round) => `/games?q=game-${round * 1_000}`,
    applications: () => '/applications',
    'an application': () => '/applications/app-50',
    runs: () => '/runs',
    'a run': () => `/runs/${run?.run_id}`,
    failures: () => '/failures',
    'audit log': () => '/audit',
    operators: () => '/operators',
    reasons: () => '/reasons',
  };
  say(MEASURE_HEAD);
  for (const [name, pathOf] of Object.entries(pages))
    await measure(
      name,
      async (round) => {
        const response = await fetch(url + pathOf(round), { headers: { cookie }, redirect: 'manual' });
        await response.text();
        if (response.status !== 200) throw new Error(`${pathOf(round)}: ${response.status}`);
      },
      ROUNDS,
    );
}, kept);
