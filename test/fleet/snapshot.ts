import { createHash } from 'node:crypto';
import type { Database } from '#db/client.ts';
import { recountGames } from '#db/queries/api-games.ts';

/** What the tables say, by content: no ids of ours, no times. Equal for equal outcomes. */
export type Snapshot = { rows: number; tables: Record<string, readonly string[]> };

/**
 * Games, revisions, failures, pages and runs with all their counters, in an order of their own. The counters
 * of the catalogue's pages have to agree with the games, whatever they are.
 */
export const takeSnapshot = async (sql: Database): Promise<Snapshot> => {
  const [games, revisions, runs, failures, unsettled] = await Promise.all([
    sql`select application_id, application_game_id, game_name, game_icon, game_desc, game_store_video,
               game_store_pic, game_package_url, audit_status, audit_time, revision, content_hash, list_hash,
               withdrawn_at is not null as withdrawn
        from games order by 1, 2`,
    sql`select g.application_id, g.application_game_id, r.revision, r.content_hash, r.game_name
        from game_revisions r join games g using (game_id) order by 1, 2, 3`,
    sql`select application_id, outcome, reason, note, listed, inserted, updated, unchanged, invalid, failed,
               missing, withdrawn, next_page
        from sync_runs order by application_id, run_id`,
    sql`select application_id, operation, application_game_id, kind from ingest_failures order by 1, 2, 3`,
    sql`select run_id from sync_run_pages where open_games <> '{}'::jsonb`,
  ]);
  const drift = await recountGames(sql, { repair: false });
  const tables = Object.entries({ games, revisions, runs, failures, unsettled, drift }).map(
    ([name, rows]) => [name, rows.map((row) => digest(name, row))] as const,
  );
  return {
    rows: tables.reduce((sum, [, rows]) => sum + rows.length, 0),
    tables: Object.fromEntries(tables),
  };
};

/** Long content as its hash; a run is worth reading. */
const digest = (table: string, row: object): string => {
  const text = JSON.stringify(row);
  if (table !== 'games') return text;
  const { application_id, application_game_id } = row as Record<string, string>;
  return `${application_id} ${application_game_id} ${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
};

/** The rows that one has and the other has not, a few of each table. */
export const differences = (expected: Snapshot, actual: Snapshot): string[] =>
  Object.keys(expected.tables).flatMap((table) => {
    const wanted = expected.tables[table] ?? [];
    const found = actual.tables[table] ?? [];
    return [
      ...wanted.filter((row) => !found.includes(row)).map((row) => `- ${table} ${row}`),
      ...found.filter((row) => !wanted.includes(row)).map((row) => `+ ${table} ${row}`),
      ...(wanted.length === found.length ? [] : [`${table}: ${found.length} rows for ${wanted.length}`]),
    ].slice(0, 6);
  });

/** The part of a snapshot that lasts: games and revisions of some applications. */
export const lastingRows = (
  { rows, tables: { games = [], revisions = [] } }: Snapshot,
  application_ids: readonly string[],
): Snapshot => {
  const belongs = (row: string) =>
    application_ids.some((id) => row.startsWith(`${id} `) || row.includes(`"application_id":"${id}"`));
  return { rows, tables: { games: games.filter(belongs), revisions: revisions.filter(belongs) } };
};
