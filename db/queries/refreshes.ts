import type { Queryable } from '#db/client.ts';
import type { ApplicationRow } from '#db/queries/applications.ts';
import { firstRow, isOneRow, onlyRow, readValue } from '#db/rows.ts';
import { STORAGE } from '#src/rules/budgets.ts';

/** The game id of a request for the whole list. */
export const WHOLE_LIST = '';
/** The whole list is read at most once in this time. */
const LIST_PAUSE_MS = 60_000;
/** At most this many requests of an application wait. */
const WAITING_MAX = 10_000;

/**
 * Records an application's requests to pull games. Several requests of a game before its pull begins cause one pull. An
 * unknown id requests the list instead, because new games come from the list, within the budgets of a run. No ids request
 * the whole list, with every detail.
 * @returns the number of different requests; undefined if too many wait already, so that none is accepted
 */
export const insertRefreshes = async (
  sql: Queryable,
  application_id: string,
  application_game_ids: readonly string[],
): Promise<number | undefined> => {
  const ids = [...new Set(application_game_ids)];
  const row = await onlyRow(sql<{ wanted: number; written: number }[]>`
    with known as (
      select id from unnest(${ids}::text[]) as id
      where exists (select from games where application_id = ${application_id} and application_game_id = id)
    ), wanted as (
      select id, false as is_full from known
      union all
      select ${WHOLE_LIST}, ${ids.length === 0}
      where ${ids.length === 0} or (select count(*) from known) < ${ids.length}
    ), written as (
      insert into refresh_requests as r (application_id, application_game_id, is_full)
      select ${application_id}, id, is_full from wanted
      where (select count(*) from (select from refresh_requests where application_id = ${application_id}
                                     and not by_operator limit ${WAITING_MAX}) waiting)
            + (select count(*) from wanted where not exists (
                 select from refresh_requests where application_id = ${application_id} and application_game_id = id))
            <= ${WAITING_MAX}
      order by id
      on conflict (application_id, application_game_id) do update
        set requested_at = now(), attempts = 0, is_full = r.is_full or excluded.is_full
      returning 1
    )
    select (select count(*)::int from wanted) as wanted, (select count(*)::int from written) as written`);
  return row.written < row.wanted ? undefined : Math.max(ids.length, 1);
};

/** Records an operator's requests to pull games. Unknown games and games of a paused application are pulled too. */
export const requestGames = async (
  tx: Queryable,
  application_id: string,
  application_game_ids: readonly string[],
): Promise<void> => {
  await tx`
    insert into refresh_requests (application_id, application_game_id, by_operator)
    select ${application_id}, id, true from unnest(${application_game_ids as string[]}::text[]) as id order by id
    on conflict (application_id, application_game_id) do update
      set requested_at = now(), attempts = 0, by_operator = true`;
};

/** May an application's own requests be pulled now? `bytesMax`: most bytes that pulls outside runs may store in 24 hours. */
const mayPull = (sql: Queryable, bytesMax: number) => sql`
  a.status = 'active' and coalesce(t.stored_bytes < ${bytesMax} or t.day_started_at < now() - interval '24 hours', true)`;

/** An application whose requests may be pulled now. */
export type DueRefresh = Pick<ApplicationRow, 'application_id'> & {
  /** Are there requests of games that may be pulled? */
  has_games: boolean;
  /** May its whole list be read now? Not while a run is open, and at most once a minute. */
  may_list: boolean;
};

/**
 * Lists at most `limit` applications with requests that may be pulled now. Reads one request and the last run of each
 * application. Leaves out lists that may not be read yet, because they would take the places of others.
 */
export const listDueRefreshes = (sql: Queryable, limit: number, bytesMax: number): Promise<DueRefresh[]> =>
  sql<DueRefresh[]>`
    with recursive waiting as (
      (select application_id from refresh_requests order by application_id limit 1)
      union all
      select (select r.application_id from refresh_requests r where r.application_id > w.application_id
              order by r.application_id limit 1)
      from waiting w where w.application_id is not null
    ), due as (
      select application_id, ${mayPull(sql, bytesMax)} as may_pull, t.next_at
      from waiting join applications a using (application_id) left join refresh_turns t using (application_id)
      where a.status <> 'removed' and coalesce(t.next_at <= now(), true)
    ), facts as (
      select due.*, exists (
               select from refresh_requests r
               where r.application_id = due.application_id
                 and (r.by_operator or (may_pull and r.application_game_id <> ${WHOLE_LIST}))) as has_games,
             may_pull and not exists (
               select from (
                 select * from sync_runs r where r.application_id = due.application_id order by run_number desc limit 1
               ) last
               where finished_at is null or (trigger = 'refresh' and started_at <= now()
                 and started_at > now() - ${LIST_PAUSE_MS} * interval '1 millisecond')) as may_list
      from due
    )
    select application_id, has_games, may_list from facts where has_games or may_list
    order by next_at nulls first limit ${limit}`;

/** A request as it was read. A repeated request has a later `requested_at`. */
export type GameRefresh = { application_game_id: string; is_full: boolean; requested_at: string };
/** The request of a game. `age_ms`: how long it waits. */
export type GameRequest = GameRefresh & { attempts: number; age_ms: number };

/** Lists the games that may be pulled now: those of operators first, then the oldest requests. */
export const listRequestedGames = (
  sql: Queryable,
  application_id: string,
  limit: number,
  bytesMax: number,
): Promise<GameRequest[]> =>
  sql<GameRequest[]>`
    select application_game_id, is_full, requested_at::text, attempts,
           (extract(epoch from now() - requested_at) * 1000)::float8 as age_ms
    from refresh_requests r join applications a using (application_id) left join refresh_turns t using (application_id)
    where r.application_id = ${application_id} and application_game_id <> ${WHOLE_LIST}
      and (by_operator or (${mayPull(sql, bytesMax)}))
    order by by_operator desc, requested_at limit ${limit}`;

/** Finds the request of an application's whole list. */
export const findRequestedList = (sql: Queryable, application_id: string) =>
  firstRow(sql<GameRefresh[]>`
    select application_game_id, is_full, requested_at::text from refresh_requests
    where application_id = ${application_id} and application_game_id = ${WHOLE_LIST}`);

/** Deletes requests, except those that were repeated since they were read. */
export const deleteRefreshes = async (
  tx: Queryable,
  application_id: string,
  requests: readonly GameRefresh[],
): Promise<void> => {
  await tx`
    delete from refresh_requests r
    using unnest(
      ${requests.map((each) => each.application_game_id)}::text[], ${requests.map((each) => each.requested_at)}::text[]
    ) as read(id, at)
    where r.application_id = ${application_id} and r.application_game_id = read.id
      and r.requested_at = read.at::timestamptz`;
};

/** Deletes every request of an application. */
export const deleteRefreshesOf = async (tx: Queryable, application_id: string): Promise<void> => {
  await tx`delete from refresh_requests where application_id = ${application_id}`;
};

/** Counts one more attempt of these games. @returns those that have had `attemptsMax` */
export const countAttempts = async (
  tx: Queryable,
  application_id: string,
  application_game_ids: readonly string[],
  attemptsMax: number,
): Promise<string[]> => {
  const rows = await tx<{ application_game_id: string; attempts: number }[]>`
    update refresh_requests set attempts = least(attempts, ${attemptsMax}) + 1
    where application_id = ${application_id} and application_game_id = any(${application_game_ids as string[]}::text[])
    returning application_game_id, attempts`;
  return rows.filter((row) => row.attempts >= attemptsMax).map((row) => row.application_game_id);
};

/** Is there a request of one of these games? */
export const hasWaitingGames = (
  sql: Queryable,
  application_id: string,
  application_game_ids: readonly string[],
): Promise<boolean> =>
  isOneRow(sql`
    select from refresh_requests
    where application_id = ${application_id} and application_game_id = any(${application_game_ids as string[]}::text[])
    limit 1`);

/** Reads how many turns in a row had no final result. */
export const readIdleTurns = async (sql: Queryable, application_id: string): Promise<number> =>
  (await readValue(sql<{ idle_turns: number }[]>`
    select idle_turns from refresh_turns where application_id = ${application_id}`)) ?? 0;

/** Postpones the application's next turn by `waitMs`. */
export const postponeRefreshes = async (
  sql: Queryable,
  application_id: string,
  waitMs: number,
  idleTurns = 0,
) => {
  await sql`
    insert into refresh_turns (application_id, next_at, idle_turns)
    values (${application_id}, now() + ${waitMs} * interval '1 millisecond', least(${idleTurns}, 32767))
    on conflict (application_id) do update set next_at = excluded.next_at, idle_turns = excluded.idle_turns`;
};

/** Adds the bytes that a pull outside a run has stored to those of these 24 hours. */
export const addPulledBytes = async (tx: Queryable, application_id: string, stored_bytes: number) => {
  await tx`
    insert into refresh_turns as t (application_id, next_at, stored_bytes)
    values (${application_id}, now(), ${stored_bytes})
    on conflict (application_id) do update
      set stored_bytes = excluded.stored_bytes
            + case when t.day_started_at < now() - interval '24 hours' then 0 else least(t.stored_bytes, ${STORAGE.bytesPerDay}) end,
          day_started_at = case when t.day_started_at < now() - interval '24 hours' then now() else t.day_started_at end`;
};
