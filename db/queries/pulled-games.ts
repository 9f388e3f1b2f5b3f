import type { Queryable } from '#db/client.ts';
import { onlyRow } from '#db/rows.ts';

/** A game before it is pulled, and when that was. `revision` is null if it is not stored. */
export type GameBefore = { application_game_id: string; revision: number | null };
export type GamesBefore = { games: GameBefore[]; requested_at: string };

/** Reads the revisions of games before they are requested, for `countPulled`. */
export const readGamesBefore = async (
  sql: Queryable,
  application_id: string,
  application_game_ids: readonly string[],
): Promise<GamesBefore> => {
  const games = await sql<(GameBefore & { at: string })[]>`
    select id as application_game_id, g.revision, date_trunc('milliseconds', now())::text as at
    from unnest(${application_game_ids as string[]}::text[]) as id left join games g
      on g.application_id = ${application_id} and g.application_game_id = id`;
  return {
    games: games.map(({ at: _at, ...game }) => game),
    requested_at: games[0]?.at ?? 'infinity',
  };
};

/** What became of requested games. `invalid`: a retry would fail in the same way; `missing`: the application has none. */
export type PulledCounts = Record<
  'inserted' | 'updated' | 'unchanged' | 'invalid' | 'failed' | 'missing',
  number
>;

/** Counts what became of games whose requests are done. */
export const countPulled = (
  sql: Queryable,
  application_id: string,
  { games, requested_at }: GamesBefore,
): Promise<PulledCounts> =>
  onlyRow(sql<PulledCounts[]>`
    with results as (
      select case when f.kind = 'no_detail' then 'missing' when f.final then 'invalid' when not f.final then 'failed'
                  when g.fetched_at is null or g.fetched_at < ${requested_at}::text::timestamptz then 'missing'
                  when before.revision is null then 'inserted'
                  when g.revision > before.revision then 'updated'
                  else 'unchanged' end as result
      from unnest(
        ${games.map((game) => game.application_game_id)}::text[], ${games.map((game) => game.revision)}::int[]
      ) as before(id, revision)
      left join games g on g.application_id = ${application_id} and g.application_game_id = before.id
      left join ingest_failures f on f.application_id = ${application_id} and f.operation = 'query_game_detail'
        and f.application_game_id = before.id and f.last_at >= ${requested_at}::text::timestamptz
    )
    select (count(*) filter (where result = 'inserted'))::int as inserted,
           (count(*) filter (where result = 'updated'))::int as updated,
           (count(*) filter (where result = 'unchanged'))::int as unchanged,
           (count(*) filter (where result = 'invalid'))::int as invalid,
           (count(*) filter (where result = 'failed'))::int as failed,
           (count(*) filter (where result = 'missing'))::int as missing
    from results`);
