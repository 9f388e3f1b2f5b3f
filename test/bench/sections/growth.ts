import type { Database } from '#db/client.ts';
import { type Applications, register, startWorker, syncAll } from '#test/bench/fleet.ts';
import { median, type Row } from '#test/bench/report.ts';
import { APPLICATIONS, CONCURRENCY, startIngestApplications } from '#test/bench/sections/ingest.ts';
import type { Servers } from '#test/bench/servers.ts';

const STOCK_BATCH = 500_000;
const STOCK_APPLICATIONS = 100;

/** Games that are there already, of other applications, come in evenly over the last days. */
const fill = async (sql: Database, rows: number): Promise<void> => {
  await sql`
    insert into applications (application_id, name, query_game_list_webhook, query_game_detail_webhook,
      query_cp_kyc_webhook, every_ms, kyc_every_ms, detail_max_age_ms, concurrency, rate, status)
    select 'stock-' || i, 'Stock', '', '', '', 1, 1, 1, 1, 1, 'paused'
    from generate_series(0, ${STOCK_APPLICATIONS - 1}::int) i`;
  // Counting them would take longer than storing them, and makes no difference to what is measured.
  await sql`alter table games disable trigger user`;
  for (let from = 1; from <= rows; from += STOCK_BATCH) {
    await sql`
      insert into games (game_id, application_id, application_game_id, game_name, game_icon, game_desc,
        game_store_video, game_store_pic, content_hash, list_hash, fetched_at)
      select (lpad(to_hex(1780000000000 + i * 864000000::bigint / ${rows}::int), 12, '0') || '7'
          || substr(md5(i::text), 1, 3) || '8' || substr(md5(i::text), 4, 15))::uuid,
        'stock-' || i % ${STOCK_APPLICATIONS}::int, 'g-' || i, 'The Lightkeeper ' || i,
        array['https://cdn.example.com/' || i || '/icon.png'], 'Restore the lighthouses of a drowned coast.',
        '', '{}', md5(i::text), left(md5(i::text), 22), now()
      from generate_series(${from}::int, ${Math.min(from + STOCK_BATCH - 1, rows)}::int) i`;
  }
  await sql`alter table games enable trigger user`;
  await sql`vacuum analyze games`;
  await sql`checkpoint`;
};

const rateInto = async (
  servers: Servers,
  { databaseUrl, sql }: { databaseUrl: string; sql: Database },
  { ports }: Applications,
  games: number,
  round: number,
): Promise<number> => {
  const ids = await register(servers, sql, ports, CONCURRENCY, `round-${round}`);
  await using _worker = await startWorker(servers, databaseUrl);
  const { wallMs } = await syncAll(servers, databaseUrl, sql, ids);
  return games / (wallMs / 1_000);
};

/** Ingest into a large catalogue against ingest into an empty one, in turns. */
export const measureGrowth = async (
  servers: Servers,
  stock: number,
  games: number,
  rounds: number,
): Promise<Row[]> => {
  await using applications = await startIngestApplications(games);
  await using large = await servers.createDatabase();
  await fill(large.sql, stock);
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const into = (database: { databaseUrl: string; sql: Database }) =>
      rateInto(servers, database, applications, games, round);
    await using empty = await servers.createDatabase();
    const [emptyRate, largeRate] = [await into(empty), await into(large)];
    ratios.push(largeRate / emptyRate);
  }
  const figure = `${stock.toLocaleString('en')} rows / empty`;
  const note = `${APPLICATIONS} applications, ${games.toLocaleString('en')} games`;
  return [
    { section: 'growth', figure, value: median(ratios), unit: 'of the rate', mark: { min: 0.8 }, note },
  ];
};
