import type { Queryable } from '#db/client.ts';
import { readColumn } from '#db/rows.ts';

/** An operator who is not recorded again within this time has left the game. */
const VIEWING_S = 60;
/** Lanes mark the games that a reviewer opened within this time. */
const OPENED_KEPT = '1 day';

/**
 * Records that an operator looks at a game. Call it again while the page of the game is open.
 * @param revision of the content on the page
 * @returns the logins of the other operators who look at it now, sorted
 */
export const recordViewer = (sql: Queryable, game_id: string, viewer: string, revision: number) =>
  // Old rows of all games are deleted. Concurrent calls cannot deadlock, because a call writes its own row first (the join
  // with `recorded`), which may wait, and then deletes others, which never waits (`skip locked`). Its own row is excluded
  // there, because a statement must not change a row twice.
  readColumn(sql<{ viewer: string }[]>`
    with recorded as (
      insert into game_viewers as v (game_id, viewer, revision) values (${game_id}, ${viewer}, ${revision})
      on conflict (game_id, viewer) do update
      set seen_at = now(), revision = greatest(v.revision, excluded.revision) returning viewer
    ), deleted as (
      delete from game_viewers where ctid = any(array(
        select old.ctid from game_viewers old cross join recorded
        where old.seen_at < now() - ${OPENED_KEPT}::interval
          and (old.game_id, old.viewer) <> (${game_id}, ${viewer})
        for update of old skip locked))
    )
    select viewer from game_viewers
    where game_id = ${game_id} and viewer <> ${viewer}
      and seen_at >= now() - ${VIEWING_S} * interval '1 second'
    order by viewer`);

/** Returns which of these games the operator opened with their present content. */
export const listOpenedGames = async (
  sql: Queryable,
  game_ids: readonly string[],
  viewer: string,
): Promise<Set<string>> =>
  new Set(
    await readColumn(sql<{ game_id: string }[]>`
      select v.game_id from game_viewers v join games g using (game_id)
      where v.game_id = any(${game_ids as string[]}::uuid[]) and v.viewer = ${viewer} and v.revision = g.revision`),
  );
