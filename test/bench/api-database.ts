import { mkdtemp } from 'node:fs/promises';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { type Database, openDatabase, STATEMENT_MS } from '#db/client.ts';
import { migrateDatabase } from '#db/migrate.ts';
import { selectGamePage } from '#db/queries/api-games.ts';
import { startEmbeddedPostgres } from '#src/embedded/postgres.ts';
import { removeHome } from '#test/support/temporary-postgres.ts';

export const APPLICATIONS = 100;
export const LOAD_BATCH = 100_000;

export const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Adds a hundred applications that have no address, unless they are there. */
export const addApplications = async (sql: Database): Promise<void> => {
  await sql`
    insert into applications (application_id, name, query_game_list_webhook, query_game_detail_webhook,
      query_cp_kyc_webhook, every_ms, kyc_every_ms, detail_max_age_ms, concurrency, rate)
    select 'app-' || i, 'App', '', '', '', 1, 1, 1, 1, 1 from generate_series(0, ${APPLICATIONS - 1}::int) i
    on conflict do nothing`;
};

/** A quarter of the machine's memory, as the documentation of Postgres recommends; its default is 128 MB. */
export const FLEET_BUFFERS = { shared_buffers: `${Math.floor(totalmem() / 4 / 2 ** 20)}MB` };

/**
 * Run `work` on a Postgres of its own, with durable settings and our tables.
 * @param kept directory that keeps the database for the next run
 * @param settings of Postgres, to add to ours
 */
export const withDatabase = async (
  work: (sql: Database, databaseUrl: string) => Promise<void>,
  kept?: string,
  settings: Record<string, string> = {},
): Promise<void> => {
  const home = kept ?? (await mkdtemp(join(tmpdir(), 'catalogue-api-bench-')));
  const { databaseUrl, stop } = await startEmbeddedPostgres({ home, settings });
  // Loading a million rows takes longer than a statement of the fleet may.
  const sql = openDatabase(databaseUrl, { max: 4, statementMs: STATEMENT_MS.none });
  try {
    await migrateDatabase(databaseUrl);
    await addApplications(sql);
    await work(sql, databaseUrl);
  } finally {
    await sql.end({ timeout: 5 });
    await stop();
    if (kept === undefined) await removeHome(home);
  }
};

/** Inserts pending games of a hundred applications, spread evenly over ten days, unless the kept database has them. */
export const loadGames = async (sql: Database, games: number): Promise<void> => {
  const page = { scope: null, audit_status: 'pending', page_num: 1, page_size: 1 } as const;
  const { total } = await selectGamePage(sql, page);
  if (total === games) return;
  if (total > 0) throw new Error(`the kept database has ${total} games, not ${games}`);
  for (let from = 1; from <= games; from += LOAD_BATCH) {
    await sql`
      insert into games (game_id, application_id, application_game_id, game_name, game_icon, game_desc,
        game_store_video, game_store_pic, content_hash, list_hash, fetched_at)
      select (lpad(to_hex(1780000000000 + i * 864000000::bigint / ${games}::int), 12, '0') || '7'
          || substr(md5(i::text), 1, 3) || '8' || substr(md5(i::text), 4, 15))::uuid,
        'app-' || i % ${APPLICATIONS}::int, 'game-' || i, 'Game ' || i, '{https://cdn.example/icon.png}',
        repeat('A game to play. ', 30), '', '{}', md5(i::text), '', now()
      from generate_series(${from}::int, ${Math.min(from + LOAD_BATCH - 1, games)}::int) i`;
  }
  await sql`vacuum analyze`;
};
