/** Appeals against rejections. Triggers keep their rules (db/migrations/0001_functions.sql). */
import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import type { GameRow } from '#db/queries/games.ts';
import { type ListPage, readListPage } from '#db/queries/list-page.ts';
import { figuresSince } from '#db/queries/review-figures.ts';
import { firstRow, onlyRow, onlyValue, readColumn } from '#db/rows.ts';
import type { gameAppeals } from '#db/schema/threads.ts';
import { where } from '#db/where.ts';

export type AppealRow = InferSelectModel<typeof gameAppeals>;

export const insertAppeal = (
  tx: Queryable,
  appeal: Pick<AppealRow, 'game_id' | 'text'>,
): Promise<AppealRow> => onlyRow(tx<AppealRow[]>`insert into game_appeals ${tx(appeal)} returning *`);

/** The latest appeal on a game. */
export const findLastAppeal = (sql: Queryable, game_id: string): Promise<AppealRow | undefined> =>
  firstRow(sql<AppealRow[]>`
    select * from game_appeals where game_id = ${game_id} order by appeal_id desc limit 1`);

/** How the appeal against a rejection stands; null if there is none. */
export type AppealState = 'open' | AppealRow['outcome'];

/** The appeal `p` against the rejection of the game `g`, also if it was carried over to a new revision. */
const ofRejection = (sql: Queryable) => sql`
  from game_appeals p
  where g.audit_status = 'rejected' and p.audit_id = (select f.audit_id from first_decision(g.game_id) f)`;

/** The state of the appeal against the rejection of the game `g`. */
export const appealState = (sql: Queryable) => sql`(select coalesce(p.outcome, 'open') ${ofRejection(sql)})`;

/** The answer of the reviewer who refused the appeal against the rejection of the game `g`; null: it was not refused. */
export const refusalAnswer = (sql: Queryable) =>
  sql`(select p.answer ${ofRejection(sql)} and p.outcome = 'upheld')`;

/** Finds how the appeals against the rejections of some games stand. */
export const findAppeals = async (
  sql: Queryable,
  games: readonly Pick<GameRow, 'game_id'>[],
): Promise<Map<string, AppealState>> => {
  const rows = await sql<{ game_id: string; appeal: AppealState }[]>`
    select game_id, ${appealState(sql)} as appeal from games g
    where game_id = any (${games.map(({ game_id }) => game_id)}::uuid[])`;
  return new Map(rows.map(({ game_id, appeal }) => [game_id, appeal]));
};

/** Can the rejection of a game be appealed? Only once, also if it was carried over to a new revision. */
export const mayAppeal = (sql: Queryable, game_id: string): Promise<boolean> =>
  onlyValue(sql<{ may: boolean }[]>`select coalesce(may_appeal(${game_id}), false) as may`);

/** `appeal_id`: the one that the reviewer read; absent: the one that is open. */
export type AppealDecision = Pick<AppealRow, 'game_id' | 'outcome' | 'decided_by' | 'answer'> & {
  appeal_id?: number | undefined;
};

/** Decides the open appeal on a game. @returns undefined when there is none, or it is another one */
export const decideAppeal = (
  tx: Queryable,
  { appeal_id, game_id, outcome, decided_by, answer }: AppealDecision,
): Promise<AppealRow | undefined> =>
  firstRow(tx<AppealRow[]>`
    update game_appeals set outcome = ${outcome}, decided_by = ${decided_by}, answer = ${answer}
    where game_id = ${game_id} and outcome is null and appeal_id = coalesce(${appeal_id ?? null}, appeal_id)
    returning *`);

/** An appeal, and the rejection that it is against. */
export type OpenAppeal = AppealRow & {
  reason: string | null;
  reason_label: string | null;
  rejection: string | null;
  due: Date;
};

/** When an appeal is due. */
const dueTime = (sql: Queryable) =>
  sql`p.opened_at + review_target_ms(a.review_priority) * interval '1 millisecond'`;

const openAppealColumns = (sql: Queryable) =>
  sql`p.*, d.reason, r.label as reason_label, d.text as rejection, ${dueTime(sql)} as due`;

const rejectionOf = (sql: Queryable) =>
  sql`join game_audits d on d.audit_id = p.audit_id left join reasons r on r.code = d.reason`;

/** The appeal on a game that is open. */
export const findOpenAppeal = (sql: Queryable, game_id: string): Promise<OpenAppeal | undefined> =>
  firstRow(sql<OpenAppeal[]>`
    select ${openAppealColumns(sql)} from game_appeals p
    join applications a on a.application_id = p.application_id ${rejectionOf(sql)}
    where p.game_id = ${game_id} and p.outcome is null`);

/** An appeal in a timeline. */
export type AppealEvent = Pick<AppealRow, 'opened_at' | 'outcome' | 'decided_at' | 'decided_by'> & {
  due: Date;
};

/** The appeals on a game, latest first. */
export const listGameAppeals = (sql: Queryable, game_id: string, limit: number) =>
  sql<AppealEvent[]>`
    select p.opened_at, p.outcome, p.decided_at, p.decided_by, ${dueTime(sql)} as due
    from game_appeals p join applications a using (application_id)
    where p.game_id = ${game_id} order by p.appeal_id desc limit ${limit}`;

/** Does the appeal `p` on the game `g` wait for a reviewer? It is open, and the game is still rejected and listed. */
export const isWaiting = (sql: Queryable) =>
  sql`p.outcome is null and g.audit_status = 'rejected' and g.withdrawn_at is null`;

/** An appeal that waits, with its game. */
export type AppealItem = OpenAppeal &
  Pick<GameRow, 'application_game_id' | 'game_name' | 'game_icon' | 'revision'> & {
    application_name: string;
  };

export type AppealFilter = {
  application_id?: string | undefined;
  /** Only appeals against rejections of others. */
  reviewer?: string | undefined;
};

export const APPEAL_SORTS = ['due'] as const;

/** Reads one page of the appeals that wait. */
export const listAppealPage = (
  sql: Queryable,
  { application_id, reviewer }: AppealFilter,
  page: ListPage<(typeof APPEAL_SORTS)[number]>,
) =>
  readListPage<AppealItem>(sql, page, {
    columns: sql`${openAppealColumns(sql)}, g.application_game_id, g.game_name, g.game_icon, g.revision,
      a.name as application_name`,
    from: sql`game_appeals p join games g using (game_id) join applications a on a.application_id = g.application_id
      ${rejectionOf(sql)} ${where(sql, [
        isWaiting(sql),
        application_id !== undefined && sql`p.application_id = ${application_id}`,
        reviewer !== undefined && sql`lower(p.rejected_by) <> lower(${reviewer})`,
      ])}`,
    sort_by: dueTime(sql),
    id: sql`p.appeal_id`,
  });

/** Lists the games whose appeals a reviewer may decide, the first due first. @param from.after the game before them */
export const listAppealedGames = (
  sql: Queryable,
  { reviewer, after }: { reviewer: string; after?: string | undefined },
  limit: number,
): Promise<string[]> =>
  readColumn(sql<{ game_id: string }[]>`
    select p.game_id from game_appeals p join games g using (game_id)
    join applications a on a.application_id = g.application_id ${where(sql, [
      isWaiting(sql),
      sql`lower(p.rejected_by) <> lower(${reviewer})`,
      after !== undefined &&
        sql`(${dueTime(sql)}, p.appeal_id) > (
          select ${dueTime(sql)}, appeal_id from game_appeals p join applications a using (application_id)
          where game_id = ${after} order by appeal_id desc limit 1)`,
    ])} order by ${dueTime(sql)}, p.appeal_id limit ${limit}`);

/** Counts the appeals that wait, and reads when the first of them was opened. */
export const countAppeals = (sql: Queryable) =>
  onlyRow(sql<{ open: number; oldest: Date | null }[]>`select * from count_appeals()`);

/** How the rejections of one reviewer for one reason fared. */
export type OverturnedRow = {
  reviewer: string;
  /** Empty without one. */
  reason: string;
  reason_label: string | null;
  rejections: number;
  appeals: number;
  upheld: number;
  overturned: number;
  /** The share of decided appeals that overturned, in percent; null before the first decision. */
  share: number | null;
  /** The median time from an appeal to its decision. */
  median_wait_ms: number | null;
};

/** Reads one page of the rejections since a time, 30 days by default, by reviewer and reason, with the results of appeals. */
export const listOverturnedPage = (
  sql: Queryable,
  { since }: { since?: Date | undefined },
  page: ListPage<'reviewer'>,
) =>
  readListPage<OverturnedRow>(sql, page, {
    columns: sql`f.*, r.label as reason_label`,
    from: sql`(
      select d.decided_by as reviewer, coalesce(d.reason, '') as reason, count(*)::int as rejections,
             count(p.appeal_id)::int as appeals, (count(*) filter (where p.outcome = 'upheld'))::int as upheld,
             (count(*) filter (where p.outcome = 'overturned'))::int as overturned,
             round(100.0 * count(*) filter (where p.outcome = 'overturned')
               / nullif(count(*) filter (where p.outcome in ('upheld', 'overturned')), 0))::int as share,
             (extract(epoch from percentile_cont(0.5) within group (order by p.decided_at - p.opened_at)
               filter (where p.decided_by is not null)) * 1000)::float8 as median_wait_ms
      from game_audits d left join game_appeals p using (audit_id)
      where d.audit_status = 'rejected' and d.undone_at is null and d.carried_over_from is null
        and d.decided_at >= ${figuresSince(sql, since)}
      group by 1, 2
    ) as f left join reasons r on r.code = f.reason where true`,
    sort_by: sql`f.reviewer`,
    id: sql`f.reason`,
  });
