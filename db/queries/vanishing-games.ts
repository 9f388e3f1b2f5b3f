import type { Queryable } from '#db/client.ts';
import type { GameRow } from '#db/queries/games.ts';
import { type ListPage, readListPage } from '#db/queries/list-page.ts';
import type { RunRow } from '#db/queries/runs.ts';
import { firstRow, readColumn, readValue } from '#db/rows.ts';
import { where } from '#db/where.ts';

export type VanishingGame = Pick<
  GameRow,
  | 'game_id'
  | 'application_id'
  | 'application_game_id'
  | 'game_name'
  | 'game_icon'
  | 'audit_status'
  | 'fetched_at'
>;

/** Reads one page of the games that a suspect run would have withdrawn and that are still there. */
export const listVanishingGamePage = (
  sql: Queryable,
  { run_id }: { run_id: string },
  page: ListPage<'game_id'>,
) =>
  readListPage<VanishingGame>(sql, page, {
    columns: sql`
      game_id, g.application_id, g.application_game_id, g.game_name, g.game_icon, g.audit_status, g.fetched_at`,
    from: sql`vanishing_games v join games g using (game_id) join sync_runs r using (run_id)
      where v.run_id = ${run_id} and g.withdrawn_at is null and g.fetched_at <= r.finished_at`,
    sort_by: sql`v.game_id`,
    id: sql`v.game_id`,
  });

/** Most games that a page names of those that a list lost. */
const NAMED_MAX = 100;

/**
 * The last run of application `a` that was not abandoned, if it is suspect and an operator has not yet withdrawn the games that
 * it did not name.
 */
export const suspectEnd = (sql: Queryable) => sql`lateral (
  select run_id, reason, finished_at, array(
    select g.application_game_id from vanishing_games v join games g using (game_id)
    where v.run_id = last.run_id order by v.game_id limit ${NAMED_MAX}
  ) as named from (
    -- db/queries/api-games.ts explains the array and the leading column.
    select * from sync_runs
    where application_id = any (array[a.application_id]) and finished_at is not null and outcome <> 'abandoned'
    order by application_id desc, run_number desc limit 1
  ) as last
  where outcome = 'suspect' and (listing_end is distinct from 'complete'
    or exists (select from vanishing_games v where v.run_id = last.run_id)))`;

/** `named`: some of the games that the run did not name, by the ids of the application. */
export type SuspectEnd = { reason: string | null; finished_at: Date; named: string[] };

/** Finds the end of the last run of an application, if its list is in doubt. */
export const findSuspectEnd = (sql: Queryable, application_id: string) =>
  firstRow(sql<SuspectEnd[]>`
    select suspect.reason, suspect.finished_at, suspect.named
    from applications a cross join ${suspectEnd(sql)} as suspect where a.application_id = ${application_id}`);

/**
 * The games `g` of an application that its list in doubt does not name, unless a call has fetched them since. It ends in a
 * condition, which may be followed by `and`.
 */
const unnamedGames = (sql: Queryable, application_id: string) => sql`
  applications a cross join ${suspectEnd(sql)} as suspect
    join vanishing_games v using (run_id) join games g using (game_id)
  where a.application_id = ${application_id} and g.withdrawn_at is null and g.fetched_at <= suspect.finished_at`;

/** Finds the end of the last run of an application, if it did not name this game of a list in doubt, and no call has since. */
export const findSuspectEndOf = (sql: Queryable, game: Pick<GameRow, 'application_id' | 'game_id'>) =>
  firstRow(sql<Omit<SuspectEnd, 'named'>[]>`
    select suspect.reason, suspect.finished_at
    from ${unnamedGames(sql, game.application_id)} and g.game_id = ${game.game_id}`);

/** Finds which of some games of an application its list in doubt does not name, unless a call has fetched them since. */
export const findUnnamed = async (
  sql: Queryable,
  application_id: string,
  games: readonly Pick<GameRow, 'game_id'>[],
): Promise<Set<string>> =>
  new Set(
    await readColumn(sql<{ game_id: string }[]>`
      select g.game_id from ${unnamedGames(sql, application_id)}
        and g.game_id = any (${games.map(({ game_id }) => game_id)}::uuid[])`),
  );

/** A suspect run, and whether its games can still be withdrawn: no run of its application ended or began since. */
export type SuspectRun = Pick<RunRow, 'run_id' | 'application_id' | 'outcome'> & { is_latest: boolean };

/** Finds the latest run of the same application, if it began after this one. */
export const findLaterRun = (sql: Queryable, run_id: string): Promise<string | undefined> =>
  readValue(sql<{ run_id: string }[]>`
    select later.run_id from sync_runs r join sync_runs later using (application_id)
    where r.run_id = ${run_id} and later.run_number > r.run_number order by later.run_number desc limit 1`);

/** Locks the application of a run, so that no other run of it ends, and reads whether the run is its latest. */
export const lockSuspectRun = async (tx: Queryable, run_id: string): Promise<SuspectRun | undefined> => {
  await tx`
    select from applications
    where application_id = (select application_id from sync_runs where run_id = ${run_id}) for update`;
  return firstRow(tx<SuspectRun[]>`
    select run_id, application_id, outcome, not exists (
             select from sync_runs later
             where later.application_id = r.application_id and later.run_number > r.run_number
           ) as is_latest
    from sync_runs r where run_id = ${run_id}`);
};

/**
 * Withdraws games of a suspect run, unless their detail was fetched since.
 * @param game_ids absent: all of them
 * @returns the withdrawn games
 */
export const withdrawVanishingGames = (
  tx: Queryable,
  run_id: string,
  game_ids: readonly string[] | undefined,
) =>
  readColumn(tx<{ game_id: string }[]>`
    with accepted as (
      delete from vanishing_games
      ${where(tx, [tx`run_id = ${run_id}`, game_ids && tx`game_id = any(${game_ids as string[]}::uuid[])`])}
      returning game_id
    )
    update games g set withdrawn_at = now(), updated_at = now()
    from accepted a, sync_runs r
    where g.game_id = a.game_id and g.withdrawn_at is null and r.run_id = ${run_id} and g.fetched_at <= r.finished_at
    returning g.game_id`);
