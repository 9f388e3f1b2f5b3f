import type { Queryable } from '#db/client.ts';
import type { GameAuditRow, GameRow } from '#db/queries/games.ts';
import { type ListPage, readListPage } from '#db/queries/list-page.ts';
import { firstRow, readColumn } from '#db/rows.ts';
import type { AuditStatus, Decision, PassObstacle } from '#src/contract/words.ts';

/** A game as a decision finds it, with its last decision that was not undone. */
export type DecidableGame = Pick<
  GameRow,
  'game_id' | 'game_name' | 'revision' | 'audit_status' | 'withdrawn_at'
> & {
  /** Why no game of its application can be passed now. */
  obstacle: PassObstacle | null;
  /** Is an appeal against its rejection open? */
  is_appealed: boolean;
  last: LastDecision | null;
};
export type LastDecision = Pick<
  GameAuditRow,
  'audit_id' | 'audit_status' | 'revision' | 'reason' | 'text' | 'decided_by'
>;

/**
 * Locks games until the transaction ends, in the order in which `upsertGames` locks, so that a decision on many games
 * does not deadlock with a worker. The caller reads them afterwards, because the lock may have waited for a change.
 */
export const lockGames = async (tx: Queryable, game_ids: readonly string[]): Promise<void> => {
  await tx`
    select from games where game_id = any(${game_ids as string[]}::uuid[])
    order by application_id, application_game_id for update`;
};

export const readDecidableGames = async (
  tx: Queryable,
  game_ids: readonly string[],
): Promise<Map<string, DecidableGame>> => {
  const rows = await tx<DecidableGame[]>`
    select g.game_id, g.game_name, g.revision, g.audit_status, g.withdrawn_at,
           pass_obstacle(g.application_id) as obstacle, g.audit_status = 'rejected' and exists (
             select from game_appeals p where p.game_id = g.game_id and p.outcome is null) as is_appealed, (
      select jsonb_build_object('audit_id', a.audit_id, 'audit_status', a.audit_status, 'revision', a.revision,
               'reason', a.reason, 'text', a.text, 'decided_by', a.decided_by)
      from standing_decision(g.game_id) a
    ) as last
    from games g where g.game_id = any(${game_ids as string[]}::uuid[])`;
  return new Map(rows.map((row) => [row.game_id, row]));
};

/** Finds how the last decision that stands ended for each of some games; absent: none was decided. */
export const findDecided = async (
  sql: Queryable,
  games: readonly Pick<GameRow, 'game_id'>[],
): Promise<Map<string, Decision>> => {
  const rows = await sql<{ game_id: string; audit_status: Decision }[]>`
    select g.game_id, d.audit_status
    from unnest(${games.map(({ game_id }) => game_id)}::uuid[]) as g (game_id), standing_decision(g.game_id) as d`;
  return new Map(rows.map(({ game_id, audit_status }) => [game_id, audit_status]));
};

export type NewDecision = {
  audit_status: Decision;
  decided_by: string;
  reason: string | null;
  text: string | null;
  note: string | null;
  batch_id: string | null;
  /** The appeal by which it overturned a rejection. */
  appeal_id?: number;
};

/**
 * Records one decision on each of these games and applies it, in one statement. The caller has locked the games.
 * @returns the decisions
 */
export const insertDecisions = (tx: Queryable, game_ids: readonly string[], decision: NewDecision) =>
  tx<GameAuditRow[]>`
    with before as materialized (
      select g.game_id, case when g.audit_status = 'pending' then coalesce(c.since, g.created_at) end as waiting_since
      from games g left join changed_games c using (game_id)
      where g.game_id = any(${game_ids as string[]}::uuid[])
    ), decided as (
      update games g
      set audit_status = ${decision.audit_status}, audit_time = statement_timestamp(), updated_at = statement_timestamp()
      from before b where g.game_id = b.game_id
      returning g.game_id, g.revision, g.audit_time
    )
    insert into game_audits (
      game_id, revision, audit_status, decided_by, reason, text, note, batch_id, appeal_id, waiting_since, decided_at)
    select d.game_id, d.revision, ${decision.audit_status}, ${decision.decided_by}, ${decision.reason},
           ${decision.text}, ${decision.note}, ${decision.batch_id}, ${decision.appeal_id ?? null}, b.waiting_since,
           d.audit_time
    from decided d join before b using (game_id)
    order by d.game_id
    returning *`;

/** Decisions by id, undone ones included, by game. */
export const listDecisions = (sql: Queryable, audit_ids: readonly number[]): Promise<GameAuditRow[]> =>
  sql<GameAuditRow[]>`
    select * from game_audits where audit_id = any(${audit_ids as number[]}::bigint[]) order by game_id`;

/** A decision of a batch, with its game as it is now. */
export type BatchRow = GameAuditRow &
  Pick<GameRow, 'game_name' | 'application_id'> & { game_status: AuditStatus; game_revision: number };

/** Lists the decisions of a batch, undone ones included. */
export const listBatchIds = (sql: Queryable, batch_id: string): Promise<number[]> =>
  readColumn(sql<{ audit_id: number }[]>`
    select audit_id from game_audits where batch_id = ${batch_id} order by game_id`);

/** Reads one page of the decisions of a batch. */
export const listBatchPage = (
  sql: Queryable,
  { batch_id }: { batch_id: string },
  page: ListPage<'game_id'>,
) =>
  readListPage<BatchRow>(sql, page, {
    columns: sql`a.*, g.game_name, g.application_id, g.audit_status as game_status, g.revision as game_revision`,
    from: sql`game_audits a join games g using (game_id) where a.batch_id = ${batch_id}`,
    sort_by: sql`a.game_id`,
    id: sql`a.game_id`,
  });

/** A batch of decisions; `standing`: those that are not undone. */
export type Batch = Pick<GameAuditRow, 'audit_status' | 'decided_by' | 'decided_at'> & {
  games: number;
  standing: number;
};

export const findBatch = (sql: Queryable, batch_id: string): Promise<Batch | undefined> =>
  firstRow(sql<Batch[]>`
    select audit_status, decided_by, decided_at, count(*)::int as games,
           (count(*) filter (where undone_at is null))::int as standing
    from game_audits where batch_id = ${batch_id} group by 1, 2, 3 limit 1`);

/**
 * Undoes decisions, in one statement: each game returns to the status that it had before, or to pending if it cannot be
 * passed now. The caller has locked the games; each decision is the last one of its game, and on its current revision.
 */
export const undoDecisions = async (tx: Queryable, audit_ids: readonly number[], undone_by: string) => {
  await tx`
    with undone as (
      update game_audits set undone_at = statement_timestamp(), undone_by = ${undone_by}
      where audit_id = any(${audit_ids as number[]}::bigint[])
      returning *, (select application_id from games where game_id = game_audits.game_id) as application_id
    )
    update games g
    set audit_status = coalesce(former.audit_status, 'pending'), audit_time = former.decided_at,
        updated_at = statement_timestamp()
    from undone u left join lateral (
      select a.audit_status, a.decided_at from game_audits a
      where a.game_id = u.game_id and a.revision = u.revision and a.undone_at is null and a.audit_id < u.audit_id
        -- A decision on a pending game returns it to pending.
        and u.waiting_since is null
      order by a.audit_id desc limit 1
    ) found on true left join lateral (
      select found.audit_status, found.decided_at
      where found.audit_status <> 'passed' or pass_obstacle(u.application_id) is null
    ) former on true
    where g.game_id = u.game_id`;
};

/** The chart counts at most this many of the latest decisions. */
const DECISIONS_MAX = 50_000;

/** Counts the decisions of each of the last 24 hours, oldest first. */
export const readDecisionHours = (sql: Queryable): Promise<{ passed: number; rejected: number }[]> =>
  sql<{ passed: number; rejected: number }[]>`
    with hours as (
      select generate_series(date_trunc('hour', now()) - interval '23 hours', date_trunc('hour', now()),
                             interval '1 hour') as hour
    ), latest as (
      select decided_at, audit_status from game_audits order by audit_id desc limit ${DECISIONS_MAX}
    ), decided as (
      select date_trunc('hour', decided_at) as hour, audit_status, count(*)::int as games from latest
      where decided_at >= date_trunc('hour', now()) - interval '23 hours' group by 1, 2
    )
    select coalesce(sum(games) filter (where audit_status = 'passed'), 0)::int as passed,
           coalesce(sum(games) filter (where audit_status = 'rejected'), 0)::int as rejected
    from hours left join decided using (hour) group by hours.hour order by hours.hour`;

/** The last decision of an operator is searched among this many of the latest decisions. */
const LATEST_DECISIONS = 5_000;

/** Finds the last standing decision of an operator, with those of its batch. */
export const findLastDecision = async (sql: Queryable, login: string) =>
  firstRow(sql<{ audit_ids: number[]; game_id: string; batch_id: string | null }[]>`
    with latest as (
      select audit_id, game_id, batch_id from (
        select * from game_audits order by audit_id desc limit ${LATEST_DECISIONS}
      ) a
      where decided_by = ${login} and undone_at is null order by audit_id desc limit 1
    )
    select l.game_id, l.batch_id, array(
             select audit_id from game_audits a
             where l.batch_id is not null and a.batch_id = l.batch_id and a.undone_at is null
             union select l.audit_id) as audit_ids
    from latest l`);
