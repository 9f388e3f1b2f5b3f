import type { Queryable } from '#db/client.ts';

/**
 * Returns the time at which the detail of game `g` of application `a` was last current, without a write to the game's row.
 * A complete run fetches the detail of each listed game whose age has passed a multiple of `detail_max_age_ms` since the run
 * before. So after that run, the detail is current as of the latest such multiple. No run keeps an unlisted game current.
 */
export const detailFetchedAt = (sql: Queryable) => {
  const from = sql`greatest(g.fetched_at, a.details_full_at)`;
  const age = sql`greatest(a.detail_max_age_ms, 1)`;
  return sql`
    case when coalesce(g.withdrawn_at, g.unlisted_at) is not null
              or not isfinite(a.details_due_at) or not isfinite(${from}) then g.fetched_at
    else ${from} + interval '1 millisecond' * ${age} * floor(
      date_part('epoch', greatest(a.details_due_at, ${from}) - ${from}) * 1000 / ${age}) end`;
};
