import type { Queryable } from '#db/client.ts';
import { detailFetchedAt } from '#db/queries/detail-ages.ts';
import type { PageRow } from '#db/queries/runs.ts';
import { onlyRow } from '#db/rows.ts';
import { HOUR_MS } from '#src/lib/duration.ts';
import { nextRunMs } from '#src/rules/address-lifetime.ts';

/** A game of a page; `list_hash` is "" when its row is invalid. */
export type NamedGame = { application_game_id: string; list_hash: string };

/**
 * What decides when a detail is fetched again. `full`: always. `startedAt`: if it was too old when the run began.
 * `everyMs`, the interval of the runs: how soon after failures, and whether its addresses end before the next run.
 */
export type DetailAge = { full: boolean; startedAt: Date; everyMs: number };

/** Longest wait before a failed detail is fetched again: one that fails for good, and one that may pass. */
const FINAL_WAIT_MAX_MS = 24 * HOUR_MS;
const PASSING_WAIT_MAX_MS = HOUR_MS;

/** The result of comparing a page with the database. */
export type ComparedGames = Pick<PageRow, 'open_games' | 'unchanged' | 'invalid' | 'failed' | 'missing'> & {
  /** Games that are withdrawn or that the last listing did not name, by the platform's id. */
  absent: string[];
  /** Games whose row was invalid and is valid now. */
  resolved: string[];
};

const NOTHING: ComparedGames = {
  open_games: {},
  unchanged: 0,
  invalid: 0,
  failed: 0,
  missing: 0,
  absent: [],
  resolved: [],
};

/**
 * Compares the games of a page with what is stored. A detail is wanted of a game that is new, whose list entry changed,
 * whose detail is older than its application allows or failed, or whose addresses end before the next run; with `full`, a
 * detail of every game. A detail that keeps failing is fetched by the first, second, fourth … run, unless its list entry
 * has changed; the other runs count it as before.
 *
 * Each row is looked up separately (`lateral` with a limit), because for a join, Postgres may read all games of the
 * application, 330 ms a page at 200,000 games.
 */
export const compareGames = async (
  sql: Queryable,
  application_id: string,
  named: readonly NamedGame[],
  age: DetailAge,
): Promise<ComparedGames> => {
  if (named.length === 0) return NOTHING;
  const ids = named.map((game) => game.application_game_id);
  const listHashes = named.map((game) => game.list_hash);
  return onlyRow(sql<ComparedGames[]>`
    with failing as materialized (
      select from ingest_failures
      where application_id = ${application_id} and operation in ('query_game_list', 'query_game_detail') limit 1
    ), states as materialized (
      select l.id, l.list_hash, g.game_id, g.absent, list.has_failed,
             detail.kind, detail.final, l.list_hash <> '' and detail.waits is true as waits,
             l.list_hash <> '' and detail.waits is not true and (${age.full} or g.game_id is null
               or g.list_hash <> l.list_hash or detail.failed is true
               or list.has_failed is true
               or g.fetched_at > now() + interval '1 minute'
               or (g.fetched_at <= a.fetched_before and ${detailFetchedAt(sql)} <= a.fetched_before)
               or coalesce(g.addresses_end_at < now() + ${nextRunMs(age.everyMs)} * interval '1 millisecond', false)
             ) as wanted
      from (
        select *, ${age.startedAt} - detail_max_age_ms * interval '1 millisecond' as fetched_before
        from applications where application_id = ${application_id}
      ) as a cross join unnest(${ids}::text[], ${listHashes}::text[]) as l(id, list_hash)
      left join lateral (
        select game_id, list_hash, fetched_at, addresses_end_at, withdrawn_at, unlisted_at,
               coalesce(withdrawn_at, unlisted_at) is not null as absent
        from games
        where application_id = ${application_id} and application_game_id = l.id limit 1
      ) as g on true
      left join lateral (
        select true as failed, kind, final,
               not ${age.full} and count > 1 and kind not in ('not_requested', 'internal') and list_hash = l.list_hash
               and last_at < now() + interval '1 minute' and now() < last_at + interval '1 millisecond' * (
                 least(${age.everyMs}::bigint * 2::float8 ^ least(count - 1, 30),
                       case when final then ${FINAL_WAIT_MAX_MS}::int else ${PASSING_WAIT_MAX_MS}::int end)
                 - ${age.everyMs}::bigint / 2) as waits
        from ingest_failures
        where exists (select from failing) and application_id = ${application_id}
          and operation = 'query_game_detail' and application_game_id = l.id limit 1
      ) as detail on true
      left join lateral (
        select l.list_hash <> '' as has_failed from ingest_failures
        where exists (select from failing) and application_id = ${application_id}
          and operation = 'query_game_list' and application_game_id = l.id limit 1
      ) as list on true
    )
    select coalesce(jsonb_object_agg(id, list_hash) filter (where wanted), '{}') as open_games,
           (count(*) filter (where list_hash <> '' and not wanted and not waits))::int as unchanged,
           (count(*) filter (where list_hash = '' or waits and final and kind <> 'no_detail'))::int as invalid,
           (count(*) filter (where waits and not final))::int as failed,
           (count(*) filter (where waits and kind = 'no_detail'))::int as missing,
           coalesce(array_agg(game_id) filter (where absent), '{}') as absent,
           coalesce(array_agg(id) filter (where has_failed), '{}') as resolved
    from states`);
};
