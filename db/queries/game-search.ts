import type { Queryable } from '#db/client.ts';
import type { GameRow, GameSummaryRow } from '#db/queries/games.ts';
import { contains, where } from '#db/where.ts';
import type { AuditStatus } from '#src/contract/words.ts';
import { isUuid } from '#src/lib/uuid.ts';

export type GameItem = GameSummaryRow & Pick<GameRow, 'game_icon'> & { application_name: string };

/** Games of one page of the search, and from where the next page reads; null at the end. */
export type GamePage = { games: GameItem[]; next: string | null };

/** Names that one search compares with a text: about 10 ms. */
const COMPARED_MAX = 10_000;
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

const itemColumns = (sql: Queryable) => sql`
  g.game_id, g.application_id, g.application_game_id, g.game_name, g.game_icon, g.audit_status, g.audit_time,
  g.revision, g.withdrawn_at, a.name as application_name`;

/**
 * The games that have this id, either the platform's or an application's. The index of the latter begins with the
 * application, so the id is looked up in each.
 */
const findGamesById = (sql: Queryable, text: string, id: string): Promise<GameItem[]> =>
  sql<GameItem[]>`
    with found as (
      select game.game_id from applications cross join lateral (
        select game_id from games
        where application_id = applications.application_id and application_game_id = any (${[id, text]})
      ) game
      ${isUuid(text) ? sql`union select game_id from games where game_id = ${text}` : sql``}
    )
    select ${itemColumns(sql)}
    from found join games g using (game_id) join applications a using (application_id)
    order by g.game_id limit 50`;

/**
 * Searches games that are not withdrawn, newest first: by part of the name, with filters. The first page of a search also
 * has the games with that id, withdrawn ones too. With a text, a page before the end may have few games.
 */
export const searchGames = async (
  sql: Queryable,
  filter: {
    text?: string | undefined;
    /** An application's id that is searched beside the text: with white space at its ends, for example. */
    id?: string | undefined;
    status?: AuditStatus | undefined;
    application_id?: string | undefined;
    before?: string | undefined;
    limit: number;
  },
): Promise<GamePage> => {
  const { text, id = text, status, application_id, before, limit } = filter;
  // One game more than the page shows whether there is a next page.
  const scanMax = text === undefined ? limit + 1 : COMPARED_MAX;
  const start = before ?? LAST_ID;
  const statuses: AuditStatus[] = status === undefined ? ['pending', 'passed', 'rejected'] : [status];
  // One scan of an index for each status: an array of one keeps the order of the index (db/queries/api-games.ts).
  const scans = statuses.map((each) =>
    application_id === undefined
      ? sql`(select game_id, game_name from games
             where audit_status = any (array[${each}]) and withdrawn_at is null and game_id < ${start}
             order by audit_status desc, game_id desc limit ${scanMax})`
      : sql`(select game_id, game_name from games
             where application_id = any (array[${application_id}]) and audit_status = ${each} and withdrawn_at is null
               and game_id < ${start}
             order by application_id desc, game_id desc limit ${scanMax})`,
  );
  const union = scans.reduce((all, each) => sql`${all} union all ${each}`);
  const rows = await sql<(GameItem & { last_id: string | null; scanned: number })[]>`
    with scanned as materialized (
      select * from (${union}) as every_status order by game_id desc limit ${scanMax}
    ), found as (
      select game_id from scanned ${where(sql, [text !== undefined && contains(sql, text, ['game_name'])])}
      order by game_id desc limit ${limit + 1}
    )
    select ${itemColumns(sql)}, ending.scanned, ending.last_id
    from (select count(*)::int as scanned, (select game_id from scanned order by game_id limit 1) as last_id
          from scanned) ending
    left join (found join games g using (game_id) join applications a using (application_id)) on true
    order by g.game_id desc`;
  const found: GameItem[] = rows
    .filter((row) => row.game_id !== null)
    .map(({ last_id: _last, scanned: _scanned, ...game }) => game);
  const games = found.slice(0, limit);
  const [first] = rows;
  const isCut = first !== undefined && first.scanned === scanMax;
  const next = found.length > limit ? (games.at(-1)?.game_id ?? null) : isCut ? first.last_id : null;
  if (text === undefined || before !== undefined) return { games, next };
  const byId = await findGamesById(sql, text, id ?? text);
  const others = games.filter(({ game_id }) => byId.every((game) => game.game_id !== game_id));
  return { games: [...byId, ...others], next };
};
