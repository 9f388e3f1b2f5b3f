import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import { type AppealState, appealState, refusalAnswer } from '#db/queries/appeals.ts';
import { type ListPage, readListPage } from '#db/queries/list-page.ts';
import { firstRow, onlyRow } from '#db/rows.ts';
import type { reasons } from '#db/schema/review.ts';
import { contains, where } from '#db/where.ts';

export type ReasonRow = InferSelectModel<typeof reasons>;

/** The reasons of rejections in the order of forms, retired ones last. */
export const listReasons = (sql: Queryable): Promise<ReasonRow[]> =>
  sql<ReasonRow[]>`select * from reasons order by retired_at is not null, position, code`;

export const REASON_SORTS = ['position', 'code', 'label'] as const;

/** Reads one page of the reasons; by position, retired ones are last. */
export const listReasonPage = (
  sql: Queryable,
  { search }: { search?: string | undefined },
  page: ListPage<(typeof REASON_SORTS)[number]>,
) =>
  readListPage<ReasonRow>(sql, page, {
    columns: sql`*`,
    from: sql`reasons ${where(sql, [search !== undefined && contains(sql, search, ['code', 'label'])])}`,
    sort_by:
      page.sort === 'position'
        ? sql`(retired_at is not null)::int * 1000000 + position`
        : sql`${sql(page.sort)}`,
    id: sql`code`,
  });

/** Adds a reason at the end, or changes the words of one, which is no longer retired then. */
export const saveReason = (
  sql: Queryable,
  { code, label, text }: Pick<ReasonRow, 'code' | 'label' | 'text'>,
) =>
  onlyRow(sql<ReasonRow[]>`
    insert into reasons (code, label, text, position)
    select ${code}, ${label}, ${text}, least(coalesce(max(position), 0), 32766) + 1 from reasons
    on conflict (code) do update set label = excluded.label, text = excluded.text, retired_at = null
    returning *`);

/** Retires a reason. No new decision names it. @returns undefined when there is none in use under this code */
export const retireReason = (sql: Queryable, code: string) =>
  firstRow(sql<ReasonRow[]>`
    update reasons set retired_at = now() where code = ${code} and retired_at is null returning *`);

/** At most this many rejected games are read, because a developer with more has the same few reasons. */
const REJECTED_MAX = 5_000;

/** Of the games of a reason. */
const NAMED_MAX = 3;

/** `text`: what the reviewers wrote, if it is the same for all games of the reason. */
export type RejectionCount = {
  label: string | null;
  games: number;
  text: string | null;
  named: {
    application_game_id: string;
    game_name: string;
    /** The note of its reviewer, or the answer that refused its appeal. */
    text: string | null;
    appeal: AppealState;
  }[];
};

/**
 * Counts the rejected games of an application by reason, and names up to three: the latest first, those whose appeal waits
 * last. The labels are joined to the counts, because a join for each game takes as long as its decision. `= any (array[…])`
 * as in db/queries/game-list.ts.
 */
export const countRejections = (sql: Queryable, application_id: string) =>
  sql<RejectionCount[]>`
    with rejected as (
      select game_id, application_game_id, game_name, audit_status from games
      where application_id = any (array[${application_id}]) and audit_status = 'rejected' and withdrawn_at is null
      order by application_id desc, game_id desc limit ${REJECTED_MAX}
    ), decided as (
      select g.*, d.text, d.reason, row_number() over (
        partition by d.reason
        order by exists (select from game_appeals p where p.game_id = g.game_id and p.outcome is null), d.audit_id desc
      ) as place
      from rejected g cross join lateral standing_decision(g.game_id) d
    )
    select r.label, count(*)::int as games, case when count(g.text) = count(*) and min(g.text) = max(g.text) then max(g.text) end as text,
           jsonb_agg(jsonb_build_object('application_game_id', g.application_game_id, 'game_name', g.game_name,
             'text', coalesce(${refusalAnswer(sql)}, g.text), 'appeal', ${appealState(sql)}
           ) order by g.place) filter (where g.place <= ${NAMED_MAX}) as named
    from decided g left join reasons r on r.code = g.reason
    group by g.reason, r.label order by games desc, g.reason`;
