import type { Queryable } from '#db/client.ts';

/** A viewer who is not noted again for this time has left. */
const VIEWER_EXPIRES_S = 60;

/**
 * Records that an operator looks at a game; a page repeats it while it is open.
 * @returns the others who look at it now, by name
 */
export const noteViewer = async (sql: Queryable, game_id: string, viewer: string): Promise<string[]> => {
  const rows = await sql<{ viewer: string }[]>`
    with noted as (
      insert into game_viewers (game_id, viewer) values (${game_id}, ${viewer})
      on conflict (game_id, viewer) do update set seen_at = now()
    ), expired as (
      delete from game_viewers where ctid = any(array(
        select ctid from game_viewers
        where seen_at < now() - ${VIEWER_EXPIRES_S} * interval '1 second' and (game_id, viewer) <> (${game_id}, ${viewer})
        for update skip locked))
    )
    select viewer from game_viewers
    where game_id = ${game_id} and viewer <> ${viewer}
      and seen_at >= now() - ${VIEWER_EXPIRES_S} * interval '1 second'
    order by viewer`;
  return rows.map((row) => row.viewer);
};
