import type { Database } from '#db/client.ts';
import { recountGames, selectCataloguePage } from '#db/queries/catalogue.ts';
import { loadGames, say, withDatabase } from './api-database.ts';

/**
 * How long a page takes at the beginning, in the middle and at the end: `node test/bench/api-pages.ts 1000000`.
 * Prints milliseconds of the query alone, for an operator and for one application out of a hundred.
 */
const games = Number(process.argv[2] ?? 10_000);
const PAGE_SIZE = 20;
const ROUNDS = 300;

const measure = async (work: () => Promise<unknown>, rounds = ROUNDS): Promise<string> => {
  for (let i = 0; i < rounds / 15; i += 1) await work();
  const times: number[] = [];
  for (let i = 0; i < rounds; i += 1) {
    const from = performance.now();
    await work();
    times.push(performance.now() - from);
  }
  times.sort((a, b) => a - b);
  return `p50 ${times[rounds / 2]?.toFixed(2)} ms, p99 ${times[Math.floor(rounds * 0.99)]?.toFixed(2)} ms`;
};

const timed = async (work: () => Promise<unknown>): Promise<string> => {
  const from = performance.now();
  await work();
  return `${Math.round(performance.now() - from)} ms`;
};

const measurePages = async (sql: Database): Promise<void> => {
  for (const scope of [null, 'app-7']) {
    const { total } = await selectCataloguePage(sql, scope, 'pending', { page_num: 1, page_size: PAGE_SIZE });
    const last = Math.ceil(total / PAGE_SIZE);
    for (const [name, page_num] of [
      ['first', 1],
      ['11th', 11],
      ['12th', 12],
      ['middle', Math.ceil(last / 2)],
      ['last', last],
      ['past the end', last + 1],
    ] as const) {
      const read = () => selectCataloguePage(sql, scope, 'pending', { page_num, page_size: PAGE_SIZE });
      const { list } = await read();
      say(
        `${scope ?? 'operator'} ${total} games, ${name} page (${page_num}, ${list.length} rows): ${await measure(read)}`,
      );
    }
    const offset = Math.max(total - PAGE_SIZE, 0);
    say(
      `  by offset alone, last page: ${await measure(
        () => sql`
      select game_id, game_name, audit_status, audit_time from games where audit_status = 'pending' and withdrawn_at is null
      ${scope === null ? sql`` : sql`and application_id = ${scope}`} order by game_id limit ${PAGE_SIZE} offset ${offset}`,
        10,
      )}`,
    );
  }
};

await withDatabase(async (sql) => {
  say(`${games} games loaded and counted in ${await timed(() => loadGames(sql, games))}`);
  say(`counters checked in ${await timed(() => recountGames(sql, { repair: false }))}`);
  await measurePages(sql);
});
