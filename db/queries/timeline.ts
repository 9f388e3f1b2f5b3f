import type { Queryable } from '#db/client.ts';
import { type AppealEvent, listGameAppeals } from '#db/queries/appeals.ts';
import type { ApplicationRow } from '#db/queries/applications.ts';
import type { EventItem } from '#db/queries/event-list.ts';
import type { FailureRow } from '#db/queries/failures.ts';
import { type GameAuditRow, type GameRevisionRow, type GameRow, selectGames } from '#db/queries/games.ts';
import type { RunRow } from '#db/queries/runs.ts';
import { firstRow } from '#db/rows.ts';

/** Rows of each kind that a timeline has, latest first. */
const ROWS_MAX = 200;

export const findApplicationGame = (sql: Queryable, application_id: string, application_game_id: string) =>
  firstRow(sql<GameRow[]>`
    ${selectGames(sql)}
    where application_id = ${application_id} and application_game_id = ${application_game_id}`);

export type RevisionEvent = Pick<GameRevisionRow, 'revision' | 'fetched_at' | 'game_name'>;
/** A decision with the label of its reason, if it has one. */
export type DecisionEvent = GameAuditRow & { reason_label: string | null };
export type AbsenceEvent = { withdrawn_at: Date; returned_at: Date | null };
/** `game_package_url` was set ("" clears it), by whom. */
export type PackageEvent = { at: Date; by: string; url: string };

/** Pictures had other bytes than the decision saw, so the game returned to `pending`. */
export type PictureEvent = { at: Date; urls: string[] };
/** An event that was sent to the application, or could not be. */
export type NoticeEvent = Pick<
  EventItem,
  'type' | 'state' | 'delivered_at' | 'last_attempt_at' | 'last_status' | 'last_error'
>;

export type GameEvents = {
  revisions: RevisionEvent[];
  decisions: DecisionEvent[];
  absences: AbsenceEvent[];
  packages: PackageEvent[];
  pictures: PictureEvent[];
  notices: NoticeEvent[];
  appeals: AppealEvent[];
};

/** Reads what happened to a game on the platform, each list latest first. */
export const readGameEvents = async (sql: Queryable, game_id: string): Promise<GameEvents> => {
  const [revisions, decisions, absences, packages, pictures, notices, appeals] = await Promise.all([
    sql<RevisionEvent[]>`
      select revision, fetched_at, game_name from game_revisions
      where game_id = ${game_id} order by revision desc limit ${ROWS_MAX}`,
    sql<DecisionEvent[]>`
      select a.*, r.label as reason_label from game_audits a left join reasons r on r.code = a.reason
      where a.game_id = ${game_id} order by a.audit_id desc limit ${ROWS_MAX}`,
    sql<AbsenceEvent[]>`
      select withdrawn_at, returned_at from game_absences
      where game_id = ${game_id} order by withdrawn_at desc limit ${ROWS_MAX}`,
    sql<PackageEvent[]>`
      select at, actor as by, coalesce(details ->> 'game_package_url', '') as url from audit_log
      where subject = ${`game:${game_id}`} and action = 'game.package' order by entry_id desc limit ${ROWS_MAX}`,
    sql<PictureEvent[]>`
      select c.found_at as at, array_agg(p.url order by p.url) as urls
      from (
        select found_at, picture_id from picture_changes
        where game_id = ${game_id} order by found_at desc, picture_id desc limit ${ROWS_MAX}
      ) as c join pictures p using (picture_id)
      group by 1 order by 1 desc`,
    sql<NoticeEvent[]>`
      select e.type, d.state, d.delivered_at, d.last_attempt_at, d.last_status, d.last_error
      from events e join event_deliveries d using (event_id)
      where e.game_id = ${game_id} and d.state in ('delivered', 'failed') order by event_id desc limit ${ROWS_MAX}`,
    listGameAppeals(sql, game_id, ROWS_MAX),
  ]);
  return { revisions, decisions, absences, packages, pictures, notices, appeals };
};

/** The failures of one game's list entry and detail that are open, latest first. */
export const listGameFailures = (sql: Queryable, application_id: string, application_game_id: string) =>
  sql<FailureRow[]>`
    select * from ingest_failures
    where application_id = ${application_id} and operation = any (array['query_game_list', 'query_game_detail'])
      and application_game_id = ${application_game_id}
    order by last_at desc`;

type EndedRun = Pick<RunRow, 'run_id' | 'outcome' | 'reason' | 'note' | 'missing'> & { finished_at: Date };
type OpenRun = Pick<RunRow, 'note'>;

export type ApplicationState = Pick<
  ApplicationRow,
  'status' | 'pause_reason' | 'every_ms' | 'next_attempt_at'
> & {
  /** When the application was removed: a removal is the last change of its row. Null: it is not removed. */
  removed_at: Date | null;
  /** The time of the database. */
  now: Date;
};

/** What an application's runs say about a game that is not stored. */
export type ApplicationRuns = {
  /** The last run that ended. */
  last_run: EndedRun | null;
  /** When the last run ended whose listing was complete. */
  last_complete_at: Date | null;
  open_run: OpenRun | null;
};

/** @returns undefined if there is no application */
export const findApplicationState = (sql: Queryable, application_id: string) =>
  firstRow(sql<ApplicationState[]>`
    select status, pause_reason, every_ms, next_attempt_at, now() as now,
           case when status = 'removed' then updated_at end as removed_at
    from applications where application_id = ${application_id}`);

export const readApplicationRuns = async (
  sql: Queryable,
  application_id: string,
): Promise<ApplicationRuns> => {
  const [last_run, complete, open_run] = await Promise.all([
    firstRow(sql<EndedRun[]>`
      select run_id, outcome, reason, note, missing, finished_at from sync_runs
      where application_id = ${application_id} and finished_at is not null order by run_number desc limit 1`),
    firstRow(sql<{ finished_at: Date }[]>`
      select finished_at from sync_runs
      where application_id = ${application_id} and listing_end = 'complete' and outcome in ('succeeded', 'partial')
      order by run_number desc limit 1`),
    firstRow(sql<OpenRun[]>`
      select note from sync_runs where application_id = ${application_id} and finished_at is null`),
  ]);
  return {
    last_run: last_run ?? null,
    last_complete_at: complete?.finished_at ?? null,
    open_run: open_run ?? null,
  };
};
