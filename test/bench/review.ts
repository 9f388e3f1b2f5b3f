import { type Database, openDatabase } from '#db/client.ts';
import { recordViewer } from '#db/queries/game-viewers.ts';
import { findGame } from '#db/queries/games.ts';
import { cursorAfter, laneList } from '#src/lists/review.ts';
import { compareRevisions } from '#src/review/compare-revisions.ts';
import { findWaitingPlace, summariseLanes } from '#src/review/lanes.ts';
import { readTimeline } from '#src/review/timeline.ts';
import { say, withDatabase } from '#test/bench/api-database.ts';
import { MEASURE_HEAD, measure } from '#test/bench/measure.ts';
import { FREQUENT_WORD, loadReviewedGames } from '#test/bench/reviewed-games.ts';
import { KIM } from '#test/support/factories.ts';
import { readPage } from '#test/support/lists.ts';
import { decideGames, undoGameDecisions } from '#test/support/operate.ts';

// Duration of what a review page reads and writes, without HTTP:
// `node test/bench/review.ts 1000000 [directory to keep the database in]`.
const PAGE = 50;

const measureReview = async (sql: Database): Promise<void> => {
  const summary = await summariseLanes(sql);
  say(`${summary.new.games} games in the new lane, ${summary.changed.games} in the changed lane`);
  say(MEASURE_HEAD);
  const { rows: fresh } = await readPage(sql, laneList, { lane: 'new' }, { limit: 500 });
  const { rows: changed } = await readPage(sql, laneList, { lane: 'changed' }, { limit: 500 });
  await measure('both lanes counted, with their oldest games', () => summariseLanes(sql));
  await measure('the same of one application', () => summariseLanes(sql, 'app-50'));
  for (const lane of ['new', 'changed'] as const) {
    const games = lane === 'new' ? fresh : changed;
    const read = (filter: object, cursor?: string) => () =>
      readPage(sql, laneList, { lane, ...filter }, { limit: PAGE, cursor });
    const last = games.at(-1);
    await measure(`${lane} lane: first page`, read({}));
    if (last !== undefined) await measure(`${lane} lane: a later page`, read({}, cursorAfter(last)));
    await measure(`${lane} lane: of one application`, read({ application_id: 'app-50' }));
    await measure(`${lane} lane: a frequent text`, read({ search: FREQUENT_WORD.toUpperCase() }));
    await measure(`${lane} lane: a text that no name has`, read({ search: 'nothing' }));
    const rows = await Promise.all(games.slice(0, 50).map(({ game_id }) => findGame(sql, game_id)));
    const row = (round: number) => rows[round % rows.length] as NonNullable<(typeof rows)[number]>;
    await measure(`${lane} lane: place of a game`, (round) => findWaitingPlace(sql, row(round)));
    await measure(`${lane} lane: timeline of a game`, (round) =>
      readTimeline(sql, row(round).application_id, row(round).application_game_id),
    );
    if (lane === 'changed')
      await measure('differences of a changed game', (round) => compareRevisions(sql, row(round)));
  }
  await measure('who looks at a game', (round) => recordViewer(sql, fresh[round]?.game_id ?? '', 'kim', 1));
  const seen = fresh.map(({ game_id }) => ({ game_id, revision: 1 }));
  const pass = { audit_status: 'passed', seen_status: 'pending' } as const;
  await sql`
    insert into game_revisions (game_id, revision, game_name, game_icon, game_desc, game_store_video, game_store_pic,
      content_hash, fetched_at)
    select game_id, 1, game_name, game_icon, game_desc, game_store_video, game_store_pic, content_hash, fetched_at
    from games where game_id = any(${seen.map(({ game_id }) => game_id)}::uuid[])
    on conflict do nothing`;
  await measure('decide on one game, and read the next', async (round) => {
    await decideGames(sql, seen.slice(round, round + 1), pass, KIM);
    const decided = fresh[round];
    const cursor = decided && cursorAfter(decided);
    await readPage(sql, laneList, {}, { limit: 1, cursor, uncounted: true });
  });
  await measure(
    'decide on fifty games, and undo them',
    async () => {
      await decideGames(sql, seen.slice(300, 350), pass, KIM);
      const decided = await sql<{ audit_id: number }[]>`
        select audit_id from game_audits where undone_at is null order by audit_id desc limit 50`;
      await undoGameDecisions(
        sql,
        decided.map(({ audit_id }) => audit_id),
        KIM,
      );
    },
    30,
  );
};

const [games = '10000', kept] = process.argv.slice(2);
await withDatabase(async (loader, databaseUrl) => {
  const sql = openDatabase(databaseUrl, { max: 4 });
  const from = performance.now();
  await loadReviewedGames(loader, Number(games));
  say(`${games} games loaded in ${Math.round((performance.now() - from) / 1_000)} s`);
  await measureReview(sql);
  await sql.end({ timeout: 5 });
}, kept);
