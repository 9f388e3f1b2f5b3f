// The lanes in the order in which games are due, against a plain sort of all games.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Queryable } from '#db/client.ts';
import { countBeforeInLane, countDueGames, countLanes } from '#db/queries/lane-counts.ts';
import { type LaneGame, listLanePage } from '#db/queries/lanes.ts';
import { onlyValue } from '#db/rows.ts';
import { LANES, type Lane, REVIEW_PRIORITIES } from '#src/contract/words.ts';
import { laneList } from '#src/lists/review.ts';
import { addApplication } from '#test/support/factories.ts';
import { readPages, sourcesWith } from '#test/support/lists.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 2, 1);
const APPLICATIONS = ['first', 'fast', 'slow', 'second', 'held'];

/** Inserts pending games that arrived at these times, an id each, as one bulk load. */
const insertGames = (application_id: string, arrivals: readonly number[]) => database.sql`
  insert into games (game_id, application_id, application_game_id, game_name, game_icon, game_desc, game_store_video,
    game_store_pic, content_hash, list_hash, fetched_at, created_at)
  select (lpad(to_hex(ms), 12, '0') || '7' || substr(md5(${application_id} || i), 1, 3) || '8'
      || substr(md5(${application_id} || i), 4, 15))::uuid,
    ${application_id}, 'game-' || ms || '-' || i, 'Game ' || i % 7, '{}', '', '', '{}', md5(i::text), '', now(),
    to_timestamp(ms / 1000.0)
  from unnest(${arrivals as number[]}::bigint[]) with ordinality as each (ms, i)`;

type Row = { game_id: string; due: number };

/** Every game of a lane, sorted by JavaScript. */
const sortAll = async (lane: Lane, application_id?: string): Promise<Row[]> => {
  const rows = await database.sql<(Row & { priority: string })[]>`
    select g.game_id, a.review_priority as priority,
      coalesce(extract(epoch from c.since) * 1000, game_ms(g.game_id))::float8 as due
    from games g join applications a using (application_id) left join changed_games c using (game_id)
    where g.audit_status = 'pending' and g.withdrawn_at is null and (c.game_id is not null) = ${lane === 'changed'}
      and a.application_id not in (select application_id from application_holds)
      and ${application_id ?? null}::text is null or a.application_id = ${application_id ?? ''}
        and (c.game_id is not null) = ${lane === 'changed'}`;
  const target = { high: DAY / 2, normal: 2 * DAY, low: 8 * DAY };
  return rows
    .map(({ game_id, due, priority }) => ({
      game_id,
      due: due + target[priority as keyof typeof target],
    }))
    .sort((a, b) => a.due - b.due || (a.game_id < b.game_id ? -1 : 1));
};

const setPriority = (application_id: string, priority: string) =>
  database.sql`update applications set review_priority = ${priority} where application_id = ${application_id}`;

it('sorts the games of every priority by their due time, in both directions and page by page', async () => {
  const { sql } = database;
  for (const application_id of APPLICATIONS) await addApplication(sql, application_id);
  await sql`insert into application_holds (application_id, reason, held_by) values ('held', 'x', 'kim')`;
  const arrivals = fc.array(fc.integer({ min: 0, max: 12 * 24 * 4 }), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(...APPLICATIONS.map(() => arrivals)),
      fc.tuple(...APPLICATIONS.map(() => fc.constantFrom(...REVIEW_PRIORITIES))),
      fc.integer({ min: 1, max: 7 }),
      fc.boolean(),
      async (all, priorities, limit, isFolded) => {
        await sql`delete from games`;
        await sql`delete from changed_games`;
        for (const [n, application_id] of APPLICATIONS.entries()) {
          // A quarter of the usual target: many games of different priorities are due at the same time.
          await insertGames(
            application_id,
            (all[n] ?? []).map((quarter) => START + (quarter * DAY) / 4),
          );
          await setPriority(application_id, priorities[n] ?? 'normal');
        }
        await sql`
          insert into changed_games (game_id, application_id, decided_revision, since)
          select game_id, application_id, 1, created_at from games where hashtext(game_id::text) % 3 = 0`;
        if (isFolded) await sql`select fold_game_counts()`;
        for (const lane of LANES) {
          const expected = await sortAll(lane);
          const ids = expected.map(({ game_id }) => game_id);
          for (const sort of ['due', '-due']) {
            const rows = await readPages(sourcesWith(sql), laneList, { lane }, { limit, sort });
            expect(rows.map(({ game_id }) => game_id)).toEqual(sort === 'due' ? ids : ids.toReversed());
          }
          const found = await readPages(sourcesWith(sql), laneList, { lane, search: 'game' }, { limit });
          expect(found.map(({ game_id }) => game_id)).toEqual(ids);
          const at = Math.floor(expected.length / 2);
          const { game_id, due } = expected[at] ?? { game_id: '', due: 0 };
          if (game_id !== '')
            expect(await countBeforeInLane(sql, lane, { game_id, due: new Date(due) })).toBe(at);
          const own = await sortAll(lane, 'slow');
          const last = own.at(-1);
          if (last !== undefined)
            expect(
              await countBeforeInLane(sql, lane, { game_id: last.game_id, due: new Date(last.due) }, 'slow'),
            ).toBe(own.length - 1);
          expect((await countDueGames(sql))[lane]).toBe(
            expected.filter((row) => row.due <= Date.now()).length,
          );
        }
      },
    ),
    { numRuns: 8 },
  );
  await sql`delete from games`;
  await sql`delete from changed_games`;
});

/** Runs a statement, and counts the rows and index entries that it reads of the lanes' tables. */
const countReads = (work: (tx: Queryable) => Promise<unknown>): Promise<number> =>
  database.sql.begin(async (tx) => {
    const read = () =>
      onlyValue(tx<{ n: number }[]>`
        select (pg_stat_get_xact_tuples_fetched('games'::regclass) + sum(pg_stat_get_xact_tuples_returned(indexrelid)))::int
        from pg_index where indrelid = 'changed_games'::regclass`);
    const before = await read();
    await work(tx);
    return (await read()) - before;
  });

const BACKLOG = 6_000;
const EVERY_MS = 30_000;
const FIRST_PAGE = { sort: 'due', descending: false, limit: 3 } as const;

/** Inserts a game of the application `slow` every half a minute, and three of `first`: at the beginning, in the middle, at the end. */
const insertBacklog = async (): Promise<void> => {
  await insertGames(
    'slow',
    Array.from({ length: BACKLOG }, (_, n) => START + n * EVERY_MS),
  );
  await insertGames('first', [START + 1, START + (BACKLOG / 2) * EVERY_MS, START + BACKLOG * EVERY_MS]);
};

it('steps over a backlog of low priority by the counters, not game by game', async () => {
  const { sql } = database;
  for (const application_id of ['first', 'slow']) await setPriority(application_id, 'normal');
  await setPriority('slow', 'low');
  await insertBacklog();
  await sql`select fold_game_counts()`;
  await sql`analyze games`;
  const { rows } = await listLanePage(sql, { lane: 'new' }, FIRST_PAGE);
  expect(rows.map(({ application_id }) => application_id)).toEqual(['first', 'first', 'first']);
  expect(await countReads((tx) => listLanePage(tx, { lane: 'new' }, FIRST_PAGE))).toBeLessThan(BACKLOG / 2);
  await sql`delete from games`;
});

it.each([true, false])(
  'steps over games of the changed lane, and counts them, by the counters: folded %s',
  async (isFolded) => {
    const { sql } = database;
    for (const application_id of ['first', 'slow']) await setPriority(application_id, 'normal');
    await insertBacklog();
    await sql`
      insert into changed_games (game_id, application_id, decided_revision)
      select game_id, application_id, 1 from games where application_id = 'slow'`;
    if (isFolded) await sql`select fold_game_counts()`;
    await sql`analyze games, changed_games`;
    const { rows, total } = await listLanePage(sql, { lane: 'new' }, FIRST_PAGE);
    expect(rows.map(({ application_id }) => application_id)).toEqual(['first', 'first', 'first']);
    expect(total).toBe(3);
    const last = rows.at(-1) as LaneGame;
    expect(await countBeforeInLane(sql, 'new', last)).toBe(2);
    for (const work of [
      (tx: Queryable) => listLanePage(tx, { lane: 'new' }, FIRST_PAGE),
      (tx: Queryable) => countBeforeInLane(tx, 'new', last),
      (tx: Queryable) => countLanes(tx),
    ])
      expect(await countReads(work)).toBeLessThan(BACKLOG / 2);
    await sql`delete from games`;
    await sql`delete from changed_games`;
  },
);
