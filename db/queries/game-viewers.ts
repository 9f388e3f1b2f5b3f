import type { Queryable } from '#db/client.ts';
import { readColumn } from '#db/rows.ts';

/** An operator who is not recorded again within this time has left the game. */
const VIEWER_EXPIRES_S = 60;

/**
 * Records that an operator looks at a game. Call it again while the page of the game is open.
 * @returns the logins of the other operators who look at it now, sorted
 */
export const recordViewer = (sql: Queryable, game_id: string, viewer: string) =>
  // Expired rows of all games are deleted. Concurrent calls cannot deadlock: a call writes its own row first (the join
  // with `recorded`), which may wait, and then deletes others, which never waits (`skip locked`). Its own row is excluded
  // there, because a statement must not change a row twice.
  readColumn(sql<{ viewer: string }[]>`
    with recorded as (
      insert into game_viewers (game_id, viewer) values (${game_id}, ${viewer})
      on conflict (game_id, viewer) do update set seen_at = now() returning viewer
    ), expired as (
      delete from game_viewers where ctid = any(array(
        select old.ctid from game_viewers old cross join recorded
        where old.seen_at < now() - ${VIEWER_EXPIRES_S} * interval '1 second'
          and (old.game_id, old.viewer) <> (${game_id}, ${viewer})
        for update of old skip locked))
    )
    select viewer from game_viewers
    where game_id = ${game_id} and viewer <> ${viewer}
      and seen_at >= now() - ${VIEWER_EXPIRES_S} * interval '1 second'
    order by viewer`);
