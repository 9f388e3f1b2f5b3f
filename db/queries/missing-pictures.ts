import type { Queryable } from '#db/client.ts';
import { isLast, isLive } from '#db/queries/picture-store.ts';
import { countRows, onlyValue } from '#db/rows.ts';
import type { PictureOutcome } from '#src/contract/pictures.ts';

/** A picture of a passed game whose bytes are not in the store. */
export type MissingPicture = {
  picture_id: string;
  game_id: string;
  url: string;
  /** The outcome of the last request. */
  outcome: PictureOutcome | null;
  http_status: number | null;
};

/**
 * Reads the next `limit` passed games after `after`, and finds the pictures that the last decision names and the store
 * lacks. A picture decided on before its first request counts too.
 * @returns the pictures of at most `limit` games, and the last game that was read; null if there was none
 */
export const listMissing = async (
  sql: Queryable,
  { after, limit }: { after: string; limit: number },
): Promise<{ missing: MissingPicture[]; games: number; last: string | null }> => {
  const rows = await sql<(MissingPicture & { is_missing: boolean })[]>`
    with passed as materialized (
      select g.game_id, g.game_icon, g.game_store_pic from games g
      where ${isLive(sql)} and g.game_id > ${after} order by g.game_id limit ${limit}
    )
    select passed.game_id, p.picture_id, i.outcome, i.http_status,
           coalesce((case when p.is_icon then passed.game_icon else passed.game_store_pic end)[p.place + 1], i.url) as url,
           p.audit_id is not null and (p.sha256 is null or (c.outcome = 'shown' and c.stored is null)) as is_missing
    from passed left join lateral (
      select a.audit_id from game_audits a where a.game_id = passed.game_id and ${isLast(sql)}
    ) last on true
    left join picture_pins p on p.audit_id = last.audit_id
    left join picture_contents c on c.sha256 = p.sha256
    left join pictures i on i.picture_id = p.picture_id
    order by passed.game_id, p.is_icon desc, p.place`;
  return {
    missing: rows.filter(({ is_missing }) => is_missing).map(({ is_missing: _, ...picture }) => picture),
    games: new Set(rows.map(({ game_id }) => game_id)).size,
    last: rows.at(-1)?.game_id ?? null,
  };
};

/** Schedules a request of each of these pictures that was not requested since a time. @returns how many */
export const requestSoon = (sql: Queryable, picture_ids: readonly string[], since: Date): Promise<number> =>
  countRows(sql`
    update pictures set next_check_at = now()
    where picture_id = any(${picture_ids as string[]}::uuid[]) and coalesce(fetched_at < ${since}, true)`);

/** Counts these pictures that were not requested since a time. */
export const countUnrequested = (sql: Queryable, picture_ids: readonly string[], since: Date) =>
  onlyValue(sql<{ count: number }[]>`
    select count(*)::int from pictures
    where picture_id = any(${picture_ids as string[]}::uuid[]) and coalesce(fetched_at < ${since}, true)`);

/** Counts the games that are passed and not withdrawn. */
export const countLiveGames = (sql: Queryable): Promise<number> =>
  onlyValue(sql<{ count: number }[]>`select count(*)::int from games g where ${isLive(sql)}`);
