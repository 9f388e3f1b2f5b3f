import type { Fragment } from 'postgres';
import type { Queryable } from '#db/client.ts';
import { countGames } from '#db/queries/game-counts.ts';
import type { GameRow } from '#db/queries/games.ts';
import { COUNT_MAX, type Listed, type ListPage, readListPage } from '#db/queries/list-page.ts';
import { contains, where } from '#db/where.ts';
import { AUDIT_STATUSES, type AuditStatus } from '#src/contract/words.ts';

/** A game of a list. `reason_label` and `text` are those of its rejection; null if it is not rejected. */
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
  | 'updated_at'
> & { application_name: string; reason_label: string | null; text: string | null };

/** A `game_id` begins with the time at which the game was first seen. */
export const GAME_SORTS = ['first_seen'] as const;
type GameListPage = ListPage<(typeof GAME_SORTS)[number]>;

export type GameFilter = {
  audit_status?: AuditStatus | undefined;
  application_id?: string | undefined;
  /** Part of the name, an application's id, or the beginning of the platform's id. */
  search?: string | undefined;
};

/** Names that one page compares with a text: about 10 ms. */
export const NAMES_COMPARED = 10_000;
/** Games with the id that is searched, at most: each application may use it. */
const SAME_ID_MAX = 50;

const columns = (sql: Queryable) => sql`
  g.game_id, g.application_id, g.application_game_id, g.game_name, g.game_icon, g.audit_status, g.audit_time,
  g.revision, g.withdrawn_at, g.updated_at, a.name as application_name, rejection.reason_label, rejection.text`;

/** The application and the rejection of each game `g`. */
const joins = (sql: Queryable) => sql`
  join applications a using (application_id)
  left join lateral (
    select r.label as reason_label, case when r.code is not null then d.text end as text
    from game_audits d left join reasons r on r.code = d.reason
    where g.audit_status = 'rejected' and d.game_id = g.game_id and d.undone_at is null
      and d.audit_status = 'rejected'
    order by d.audit_id desc limit 1
  ) rejection on true`;

/** Digits of an id of the platform, or of its beginning. */
const DIGITS = /^[0-9a-f]{8,32}$/i;
const HEX_DIGITS = 32;

/**
 * Finds the games that have this id, either the platform's or an application's, withdrawn ones too. The index of the
 * latter begins with the application, so the id is looked up in each.
 */
const findGamesById = (sql: Queryable, { search = '', application_id, audit_status }: GameFilter) => {
  const digits = search.trim().replaceAll('-', '');
  const byPlatformId = DIGITS.test(digits)
    ? sql`union select game_id from games
          where game_id between ${digits.padEnd(HEX_DIGITS, '0')} and ${digits.padEnd(HEX_DIGITS, 'f')}`
    : sql``;
  return sql<GameItem[]>`
    with found as (
      select game.game_id from applications cross join lateral (
        select game_id from games
        where application_id = applications.application_id and application_game_id = any (${[search, search.trim()]})
      ) game
      ${where(sql, [application_id !== undefined && sql`applications.application_id = ${application_id}`])}
      ${byPlatformId}
    )
    select ${columns(sql)} from found join games g using (game_id) ${joins(sql)}
    ${where(sql, [
      application_id !== undefined && sql`g.application_id = ${application_id}`,
      audit_status && sql`g.audit_status = ${audit_status}`,
    ])}
    order by g.game_id limit ${SAME_ID_MAX}`;
};

type FoundGame = GameItem & { last_id: string | null; scanned: number };

/**
 * Reads the part of the games behind a place whose names have a text. One scan of an index for each status: an array of
 * one keeps the order of the index (db/queries/api-games.ts).
 */
const scanGames = async (
  sql: Queryable,
  { search, application_id, audit_status }: GameFilter,
  page: GameListPage,
) => {
  const { descending, after, limit } = page;
  // One game more than the page shows whether there is a next page.
  const scanMax = search === undefined ? limit + 1 : NAMES_COMPARED;
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
    return sql`(
      select game_id, game_name from games
      ${where(sql, [index, sql`withdrawn_at is null`, after && sql`game_id ${compare} ${after[1]}`])}
      order by ${lead} ${direction}, game_id ${direction} limit ${scanMax})`;
  });
  const union = scans.reduce((all: Fragment, each) => sql`${all} union all ${each}`);
  const read = await sql<FoundGame[]>`
    with scanned as materialized (
      select * from (${union}) as every_status order by game_id ${direction} limit ${scanMax}
    ), found as (
      select game_id from scanned ${where(sql, [search !== undefined && contains(sql, search.trim() || search, ['game_name'])])}
      order by game_id ${direction} limit ${limit + 1}
    ), ending as (
      select (select count(*)::int from scanned) as scanned,
             (select game_id from scanned order by game_id ${descending ? sql`asc` : sql`desc`} limit 1) as last_id
    )
    select ${columns(sql)}, ending.scanned, ending.last_id
    from ending left join (found join games g using (game_id) ${joins(sql)}) on true
    order by g.game_id ${direction}`;
  const games = read
    .filter((row) => row.game_id !== null)
    .map(({ last_id: _last, scanned: _scanned, ...game }): GameItem => game);
  const [ending] = read;
  const isCut = search !== undefined && ending?.scanned === scanMax;
  return { games, cutAt: isCut ? (ending?.last_id ?? undefined) : undefined };
};

/** Does the search find the game by its id? */
const hasId = (search: string, { game_id, application_game_id }: GameItem): boolean =>
  application_game_id === search ||
  application_game_id === search.trim() ||
  game_id.replaceAll('-', '').startsWith(search.trim().replaceAll('-', '').toLowerCase());

/**
 * Searches games: first those that have the text as their id, then those with it in their name. A page may end before it
 * is full. The value of a place tells which of the two it continues.
 */
const searchGames = async (
  sql: Queryable,
  filter: GameFilter & { search: string },
  page: GameListPage,
): Promise<Listed<GameItem>> => {
  const { after, limit } = page;
  const isAmongIds = after === undefined || after[0] === 'id';
  const { games, cutAt } = await scanGames(sql, filter, isAmongIds ? { ...page, after: undefined } : page);
  const isRepeated = games.some((game) => hasId(filter.search, game));
  const byId = isAmongIds || isRepeated ? await findGamesById(sql, filter) : [];
  const rest = byId.filter(({ game_id }) => isAmongIds && (after === undefined || game_id > after[1]));
  const others = games.filter((game) => byId.every(({ game_id }) => game_id !== game.game_id));
  const rows = [...rest, ...others].slice(0, limit);
  const last = rows.at(-1)?.game_id ?? '';
  const shown = rows.length - Math.min(rest.length, limit);
  const nextOf = (): Listed<GameItem>['next'] => {
    if (rest.length > limit || (shown === 0 && others.length > 0)) return ['id', last];
    if (shown < others.length) return ['name', last];
    const end = games.length > limit ? games.at(-1)?.game_id : cutAt;
    return end === undefined ? undefined : ['name', end];
  };
  return { rows, total: null, next: nextOf() };
};

/** Reads one page of the games that are not withdrawn; a search by an id finds withdrawn ones too. */
export const listGamePage = async (
  sql: Queryable,
  filter: GameFilter,
  page: GameListPage,
): Promise<Listed<GameItem>> => {
  const { search, application_id } = filter;
  // White space alone is an id of an application, or nothing.
  if (search !== undefined && (search.trim() !== '' || application_id !== undefined))
    return searchGames(sql, { ...filter, search }, page);
  const { games } = await scanGames(sql, { ...filter, search: undefined }, page);
  const rows = games.slice(0, page.limit);
  const last = games.length > rows.length ? rows.at(-1)?.game_id : undefined;
  return {
    rows,
    total: page.uncounted ? null : Math.min(await countGames(sql, filter), COUNT_MAX + 1),
    next: last === undefined ? undefined : [last, last],
  };
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
