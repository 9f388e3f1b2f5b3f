import type { Fragment } from 'postgres';
import type { Queryable } from '#db/client.ts';
import { type AppealState, appealState, refusalAnswer } from '#db/queries/appeals.ts';
import { countGames } from '#db/queries/game-counts.ts';
import { compareFound, type GameSearch, searchGames } from '#db/queries/game-search.ts';
import type { GameRow } from '#db/queries/games.ts';
import { COUNT_MAX, type Listed, type ListPage, readListPage } from '#db/queries/list-page.ts';
import { where } from '#db/where.ts';
import { AUDIT_STATUSES } from '#src/contract/words.ts';

/** A game of a list. */
export type GameItem = Pick<
  GameRow,
  | 'game_id'
  | 'application_id'
  | 'application_game_id'
  | 'game_name'
  | 'game_icon'
  | 'audit_status'
  | 'audit_time'
  | 'revision'
  | 'withdrawn_at'
  | 'created_at'
  | 'updated_at'
> & { application_name: string };

/** A `game_id` begins with the time at which the game was first seen. */
export const GAME_SORTS = ['first_seen'] as const;
type GameListPage = ListPage<(typeof GAME_SORTS)[number]>;

export type GameFilter = Partial<GameSearch>;

const columns = (sql: Queryable) => sql`
  g.game_id, g.application_id, g.application_game_id, g.game_name, g.game_icon, g.audit_status, g.audit_time,
  g.revision, g.withdrawn_at, g.created_at, g.updated_at, a.name as application_name`;

/** Reads games by one index scan for each status. `= any (array[…])` makes Postgres use that index (db/queries/api-games.ts). */
const scanGames = async (
  sql: Queryable,
  { application_id, audit_status }: GameFilter,
  { descending, after, limit, uncounted }: GameListPage,
): Promise<Listed<GameItem>> => {
  const direction = descending ? sql`desc` : sql`asc`;
  const compare = descending ? sql`<` : sql`>`;
  const scans = (audit_status === undefined ? AUDIT_STATUSES : [audit_status]).map((status) => {
    const [lead, index] =
      application_id === undefined
        ? [sql`audit_status`, sql`audit_status = any (array[${status}])`]
        : [
            sql`application_id`,
            sql`application_id = any (array[${application_id}]) and audit_status = ${status}`,
          ];
    // One game more than the page shows whether there is a next page.
    return sql`(
      select game_id from games
      ${where(sql, [index, sql`withdrawn_at is null`, after && sql`game_id ${compare} ${after[1]}`])}
      order by ${lead} ${direction}, game_id ${direction} limit ${limit + 1})`;
  });
  const union = scans.reduce((all: Fragment, each) => sql`${all} union all ${each}`);
  const games = await sql<GameItem[]>`
    select ${columns(sql)}
    from (select * from (${union}) as every_status order by game_id ${direction} limit ${limit + 1}) as scanned
    join games g using (game_id) join applications a using (application_id)
    order by g.game_id ${direction}`;
  const rows = games.slice(0, limit);
  const last = games.length > limit ? rows.at(-1)?.game_id : undefined;
  return {
    rows,
    total: uncounted
      ? null
      : Math.min(await countGames(sql, { application_id, audit_status }), COUNT_MAX + 1),
    next: last === undefined ? undefined : [last, last],
  };
};

/** Reads a part of the games that a search finds, the best first. */
const listFound = async (
  sql: Queryable,
  filter: GameSearch,
  { after, limit }: GameListPage,
): Promise<Listed<GameItem>> => {
  // Compares with the last game shown, because a decision may change its status, so that the search no longer finds it.
  const shown = after && { score: Number(after[0]), game_id: after[1] };
  const all = await searchGames(sql, filter);
  const found = shown === undefined ? all : all.filter((game) => compareFound(shown, game) < 0);
  const part = found.slice(0, limit);
  const ids = part.map(({ game_id }) => game_id);
  const rows = await sql<GameItem[]>`
    select ${columns(sql)}
    from unnest(${ids}::uuid[]) with ordinality as found (game_id, place) join games g using (game_id)
    join applications a using (application_id)
    order by place`;
  const last = found.length > limit ? part.at(-1) : undefined;
  return { rows, total: null, next: last && [String(last.score), last.game_id] };
};

/** Reads one page of the games that are not withdrawn, or of those that a search finds. */
export const listGamePage = (
  sql: Queryable,
  { search, ...filter }: GameFilter,
  page: GameListPage,
): Promise<Listed<GameItem>> =>
  // White space alone is in no name. It may be the id that an application gave a game.
  search !== undefined && (search.trim() !== '' || filter.application_id !== undefined)
    ? listFound(sql, { ...filter, search }, page)
    : scanGames(sql, filter, page);

/** A rejected game, with the reason. `text`: the note of its reviewer, or the answer that refused its appeal. */
export type RejectedGame = Pick<
  GameItem,
  'game_id' | 'application_id' | 'application_game_id' | 'game_name' | 'game_icon' | 'revision' | 'created_at'
> & { audit_time: Date; reason_label: string | null; text: string | null; appeal: AppealState };

/** Reads one page of the rejected games of an application. */
export const listRejectedGamePage = (
  sql: Queryable,
  { application_id }: { application_id: string },
  page: ListPage<'audit_time'>,
) => {
  const rejected = sql`g.application_id = ${application_id} and g.audit_status = 'rejected' and g.withdrawn_at is null`;
  return readListPage<RejectedGame>(sql, page, {
    columns: sql`
      g.game_id, g.application_id, g.application_game_id, g.game_name, g.game_icon, g.audit_time, g.revision, g.created_at,
      r.label as reason_label, ${appealState(sql)} as appeal,
      coalesce(${refusalAnswer(sql)}, case when r.code is not null then d.text end) as text`,
    from: sql`
      games g left join lateral standing_decision(g.game_id) d on true left join reasons r on r.code = d.reason
      where ${rejected}`,
    counted: sql`games g where ${rejected}`,
    sort_by: sql`g.audit_time`,
    id: sql`g.game_id`,
  });
};

/** A game that the list of its application no longer names. */
export type WithdrawnGame = Pick<
  GameRow,
  'game_id' | 'application_id' | 'application_game_id' | 'game_name' | 'audit_status' | 'unlisted_at'
> & { withdrawn_at: Date };

/** Reads one page of the withdrawn games of an application. */
export const listWithdrawnGamePage = (
  sql: Queryable,
  { application_id }: { application_id: string },
  page: ListPage<'withdrawn_at'>,
) =>
  readListPage<WithdrawnGame>(sql, page, {
    columns: sql`game_id, application_id, application_game_id, game_name, audit_status, unlisted_at, withdrawn_at`,
    from: sql`games where application_id = ${application_id} and withdrawn_at is not null`,
    sort_by: sql`withdrawn_at`,
    id: sql`game_id`,
  });
