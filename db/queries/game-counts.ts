/** How many games there are, from the counters of `data.total` (db/schema/game-counts.ts). */
import type { Queryable } from '#db/client.ts';
import { onlyRow, onlyValue } from '#db/rows.ts';
import { where } from '#db/where.ts';
import type { AuditStatus } from '#src/contract/words.ts';

/** Counts the games that are not withdrawn. */
export const countGames = (
  sql: Queryable,
  {
    application_id,
    audit_status,
  }: { application_id?: string | undefined; audit_status?: AuditStatus | undefined },
): Promise<number> =>
  onlyValue(sql<{ games: number }[]>`
    select coalesce(sum(games), 0)::float8 as games from game_totals(${application_id ?? ''})
    ${where(sql, [audit_status && sql`audit_status = ${audit_status}`])}`);

/** Counts the games of one application by status. */
export const countGamesOf = (sql: Queryable, application_id: string) =>
  onlyRow(sql<Record<AuditStatus, number>[]>`
    select coalesce(sum(games) filter (where audit_status = 'pending'), 0)::int as pending,
           coalesce(sum(games) filter (where audit_status = 'passed'), 0)::int as passed,
           coalesce(sum(games) filter (where audit_status = 'rejected'), 0)::int as rejected
    from game_totals(${application_id})`);

/** Counts the games of all applications by status. */
export const countGamesByStatus = (sql: Queryable) =>
  sql<{ audit_status: AuditStatus; count: number }[]>`
    select audit_status, sum(games)::float8 as count from game_totals('')
    group by audit_status`;

/** Counts the withdrawn games of an application, at most `max`. */
export const countWithdrawnGames = (sql: Queryable, application_id: string, max: number) =>
  onlyValue(sql<{ count: number }[]>`
    select count(*)::int as count from (
      select from games where application_id = ${application_id} and withdrawn_at is not null limit ${max}) withdrawn`);
