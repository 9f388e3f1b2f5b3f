import type { Database, Queryable } from '#db/client.ts';
import type { GameRow } from '#db/queries/games.ts';
import { firstRow } from '#db/rows.ts';
import { type GameDetail, gameDetailSchema } from '#src/contract/platform.ts';
import type { AuditStatus } from '#src/contract/words.ts';
import type { ImageFormat } from '#src/rules/pictures.ts';

/** The application whose games are read; null reads the games of all. */
export type Scope = string | null;

export type ApiGameSummary = Pick<GameRow, 'game_id' | 'game_name' | 'audit_time'>;

/** `page_num` counts from 1. */
export type PageRequest = { scope: Scope; audit_status: AuditStatus; page_num: number; page_size: number };
export type ApiGamePage = { total: number; list: ApiGameSummary[] };

/**
 * Reads one page of games by `game_id` ascending, and the number of all games with this status. Withdrawn
 * games are not included. One statement reads both, so that they agree; `place_of_game` finds the first row.
 */
export const selectGamePage = async (
  sql: Queryable,
  { scope, audit_status, page_num, page_size }: PageRequest,
): Promise<ApiGamePage> => {
  const application_id = scope ?? '';
  // `= any (array[…])` keeps the column in the sort order, so that only the index that has this order fits. With `=`
  // the planner may choose the primary key and read the games of other statuses.
  const rows = await sql<({ total: number } & (ApiGameSummary | { game_id: null }))[]>`
    select counted.total, page.*
    from (
      select coalesce(sum(games), 0)::bigint as total from game_totals(${application_id})
      where audit_status = ${audit_status}
    ) as counted
    left join lateral (
      select game.* from place_of_game(${application_id}, ${audit_status}, ${(page_num - 1) * page_size}) as place
      cross join lateral (
        (select game_id, game_name, audit_time from games
         where ${application_id} = '' and audit_status = any (array[${audit_status}])
           and withdrawn_at is null and game_id >= place.start
         order by audit_status, game_id limit ${page_size} offset place.ahead)
        union all
        (select game_id, game_name, audit_time from games
         where ${application_id} <> '' and application_id = any (array[${application_id}])
           and audit_status = ${audit_status} and withdrawn_at is null and game_id >= place.start
         order by application_id, game_id limit ${page_size} offset place.ahead)
      ) as game
    ) as page on true
    order by page.game_id`;
  const [first] = rows;
  if (first === undefined) throw new Error('a left join returns at least one row');
  return { total: first.total, list: rows.filter((row) => row.game_id !== null) };
};

/**
 * Reads one game in full. One statement serves every id, an id that is not a UUID as the nil UUID, so that a response
 * does not show why there is no such game.
 * @returns undefined if the scope has no such game
 */
export const selectGameDetail = (sql: Queryable, { scope, game_id }: { scope: Scope; game_id: string }) =>
  firstRow(sql<GameDetail[]>`
    select ${sql(Object.keys(gameDetailSchema.shape))} from games
    where game_id = ${UUID.test(game_id) ? game_id : NIL_UUID} and withdrawn_at is null
      and (${scope}::text is null or application_id = ${scope})`);

/** The bytes of a picture that a passed game was decided on. */
export type KeptPicture = { is_icon: boolean; sha256: string; format: ImageFormat };

/** Lists the pictures of a game's last decision that are in the store, by their places. */
export const listKeptPictures = (sql: Queryable, game_id: string): Promise<KeptPicture[]> =>
  // `= any (array[…])` as in `selectGamePage`. The limit keeps the planner from reading all contents for a join.
  sql<KeptPicture[]>`
    select p.is_icon, encode(p.sha256, 'hex') as sha256, c.format
    from picture_pins p cross join lateral (
      select format from picture_contents where sha256 = p.sha256 and stored is not null limit 1
    ) c
    where p.audit_id = any (array[(
      select audit_id from game_audits where game_id = any (array[${game_id}::uuid]) and undone_at is null
      order by game_id desc, audit_id desc limit 1)])
    order by p.audit_id, p.is_icon, p.place`;

/** The canonical lower-case form, as we write it. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const NIL_UUID = '00000000-0000-0000-0000-000000000000';

/** Counters of one application ("" for all applications) that differ from its games. */
export type CounterDrift = {
  application_id: string;
  audit_status: AuditStatus | 'changed';
  /** Games that exist, minus games counted. */
  games_off: number;
  /** Number of counters that are wrong, at all levels of the tree. */
  counters_off: number;
};

/**
 * Compares the counters with the games and, with `repair`, corrects them. Reads every game; games can be written
 * meanwhile. @returns the differences, empty if there are none
 */
export const recountGames = (sql: Database, options: { repair: boolean }): Promise<CounterDrift[]> =>
  sql<CounterDrift[]>`
    select off_application_id as application_id, off_audit_status as audit_status,
           games_off::float8, counters_off::float8
    from recount_games(${options.repair})`;
