import type { Database } from '#db/client.ts';
import type { GameRow } from '#db/queries/games.ts';
import type { ApplicationGameDetail } from '#src/contract/application.ts';
import { CONTENT, CONTENT_COLUMNS } from '#src/rules/mapping.ts';

/** An application's games by its own ids, withdrawn ones included. */
export const gamesOf = async (sql: Database, application_id: string): Promise<Map<string, GameRow>> => {
  const rows = await sql<GameRow[]>`select * from games where application_id = ${application_id}`;
  return new Map(rows.map((row) => [row.application_game_id, row]));
};

/** What of a row came from the application, under the names of section 2.5. */
export const asSent = (row: GameRow) =>
  ({
    game_id: row.application_game_id,
    ...Object.fromEntries(CONTENT_COLUMNS.map((column) => [CONTENT[column].from, row[column]])),
  }) as ApplicationGameDetail;

/** Which version of each row stands: equal means that nothing was written, not even the same again. */
export const rowVersions = async (sql: Database, application_id: string) =>
  sql<{ game_id: string; version: string }[]>`
    select game_id, xmin::text || ' ' || ctid::text as version
    from games where application_id = ${application_id} order by game_id`;

/** One game, by the application's own id. */
export const oneGame = async (sql: Database, application_id: string, id: string): Promise<GameRow> => {
  const game = (await gamesOf(sql, application_id)).get(id);
  if (game === undefined) throw new Error(`no game ${id} of ${application_id} has landed`);
  return game;
};
