import { openDatabase } from '#db/client.ts';
import { recountGames, selectGamePage } from '#db/queries/api-games.ts';
import { loadGames, say, withDatabase } from '#test/bench/api-database.ts';
import { type Row, tableOf } from '#test/bench/report.ts';

// Duration of the query of the first, middle and last page, without HTTP, for an operator and for one application out
// of a hundred: `node test/bench/api-pages.ts 1000000 [directory to keep the database in]`.
const PAGE_SIZE = 20;
const ROUNDS = 300;

const measure = async (figure: string, work: () => Promise<unknown>, rounds = ROUNDS): Promise<Row> => {
  for (let i = 0; i < rounds / 15; i += 1) await work();
  const times: number[] = [];
  for (let i = 0; i < rounds; i += 1) {
    const from = performance.now();
    await work();
    times.push(performance.now() - from);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(rounds * share)] ?? Number.NaN;
  return {
    section: 'api',
    figure,
    value: at(0.5),
    unit: 'ms, median',
    note: `p99 ${at(0.99).toFixed(2)} ms`,
  };
};

/** Measures pages of an operator and of an application, and the last page read with OFFSET alone. */
export const measurePages = async (databaseUrl: string): Promise<Row[]> => {
  const sql = openDatabase(databaseUrl, { max: 1, planOnce: true });
  const rows: Row[] = [];
  for (const scope of [null, 'app-7']) {
    const read = (page_num: number) =>
      selectGamePage(sql, { scope, audit_status: 'pending', page_num, page_size: PAGE_SIZE });
    const { total } = await read(1);
    const last = Math.ceil(total / PAGE_SIZE);
    const who = `${scope ?? 'operator'}, ${total.toLocaleString('en')} games`;
    const pages = {
      first: 1,
      middle: Math.ceil(last / 2),
      last,
      'past the end': last + 1,
    };
    for (const [name, page_num] of Object.entries(pages)) {
      rows.push(await measure(`${who}: ${name} page`, () => read(page_num)));
    }
    const byOffset = () => sql`
      select game_id, game_name, audit_status, audit_time from games where audit_status = 'pending' and withdrawn_at is null
      ${scope === null ? sql`` : sql`and application_id = ${scope}`}
      order by game_id limit ${PAGE_SIZE} offset ${Math.max(total - PAGE_SIZE, 0)}`;
    rows.push(await measure(`${who}: last page by OFFSET alone`, byOffset, 10));
  }
  await sql.end({ timeout: 5 });
  return rows;
};

const timed = async (work: () => Promise<unknown>): Promise<string> => {
  const from = performance.now();
  await work();
  return `${Math.round(performance.now() - from)} ms`;
};

if (import.meta.main) {
  const [games = '10000', kept] = process.argv.slice(2);
  await withDatabase(async (sql, databaseUrl) => {
    say(`${games} games loaded and counted in ${await timed(() => loadGames(sql, Number(games)))}`);
    say(tableOf(await measurePages(databaseUrl)));
    say(`counters checked in ${await timed(() => recountGames(sql, { repair: false }))}`);
  }, kept);
}
