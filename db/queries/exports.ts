/** Exports: games with their decisions, and every decision. */
import type { Queryable } from '#db/client.ts';
import { CONTENT_NAMES, type GameAuditRow, type GameRow } from '#db/queries/games.ts';
import { isReleased } from '#db/queries/holds.ts';
import { where } from '#db/where.ts';
import type { AppealOutcome, AuditStatus } from '#src/contract/words.ts';
import { CONTENT_COLUMNS, type GameContent } from '#src/rules/mapping.ts';

/** A game with the decision that stands. The content of an imported game is null until its first pull. */
export type ExportedGame = Pick<
  GameRow,
  | 'application_id'
  | 'application_game_id'
  | 'game_id'
  | 'game_package_url'
  | 'audit_status'
  | 'audit_time'
  | 'withdrawn_at'
> & { [Name in keyof GameContent]: GameContent[Name] | null } & {
  [Field in 'decided_by' | 'reason' | 'text']: string | null;
};

const NO_CONTENT = CONTENT_COLUMNS.map((name) => `null as ${name}`).join(', ');

/**
 * Reads the next games of an application, by its own ids. A game that a hold returned to pending is exported as it will be
 * after the release.
 */
export const listExportedGames = (
  sql: Queryable,
  {
    application_id,
    status,
    after,
  }: { application_id: string; status?: AuditStatus | undefined; after: string },
  limit: number,
): Promise<ExportedGame[]> => {
  const next = where(sql, [
    sql`application_id = ${application_id} and application_game_id > ${after}`,
    status && sql`audit_status = ${status}`,
  ]);
  const games = sql`
    select g.application_id, g.application_game_id, g.game_id, ${sql.unsafe(CONTENT_NAMES)}, g.game_package_url,
           g.withdrawn_at, coalesce(released.audit_status, g.audit_status) as audit_status,
           coalesce(released.decided_at, g.audit_time) as audit_time
    from games g left join lateral (
      select d.audit_status, d.decided_at
      from held_games h cross join lateral standing_decision(h.game_id) s join game_audits d on d.audit_id = s.audit_id
      where h.game_id = g.game_id and ${isReleased(sql)}
    ) as released on true`;
  return sql<ExportedGame[]>`
    select e.application_id, e.application_game_id, e.game_id, ${sql.unsafe(CONTENT_NAMES)}, e.game_package_url,
           e.audit_status, e.audit_time, coalesce(e.decided_by, d.decided_by) as decided_by,
           coalesce(e.reason, d.reason) as reason, coalesce(e.text, d.text) as text, e.withdrawn_at
    from (
      (select application_id, application_game_id, game_id, ${sql.unsafe(CONTENT_NAMES)}, game_package_url, audit_status,
              audit_time, null as decided_by, null as reason, null as text, withdrawn_at
       from (${games}) as g ${next} order by application_game_id limit ${limit})
      union all
      (select application_id, application_game_id, game_id, ${sql.unsafe(NO_CONTENT)}, game_package_url, audit_status,
              audit_time, decided_by, reason, text, null
       from imported_games ${next} order by application_game_id limit ${limit})
    ) as e
    left join lateral standing_decision(e.game_id) d on e.audit_status <> 'pending'
    order by e.application_game_id limit ${limit}`;
};

/** A decision as a regulator requires it. `stands`: it is not undone, and no later one replaced it. */
export type ExportedDecision = Pick<
  GameAuditRow,
  | 'audit_id'
  | 'game_id'
  | 'revision'
  | 'audit_status'
  | 'decided_by'
  | 'decided_at'
  | 'reason'
  | 'text'
  | 'undone_at'
  | 'undone_by'
> &
  Pick<GameRow, 'application_id' | 'application_game_id' | 'game_name'> & {
    reason_label: string | null;
    waiting_since: Date | null;
    /** Null: it was decided on a game that did not wait. */
    waited_s: number | null;
    stands: boolean;
    /** Null: it was not appealed, or it is no rejection. */
    appeal_outcome: AppealOutcome | 'open' | null;
    appeal_text: string | null;
    appealed_at: Date | null;
    appeal_decided_by: string | null;
    appeal_decided_at: Date | null;
    appeal_answer: string | null;
    /** What operators and the developer wrote to each other between the decision before this one and the decision after it. */
    thread: { written_at: string; written_by: string; text: string }[];
  };

/** Reads the next decisions since a moment, in the order of their ids. The name is that of the decided revision. */
export const listExportedDecisions = (
  sql: Queryable,
  { since, after }: { since: Date; after: number },
  limit: number,
): Promise<ExportedDecision[]> =>
  sql<ExportedDecision[]>`
    select a.audit_id, g.application_id, g.application_game_id, a.game_id, r.game_name, a.revision, a.audit_status,
           a.decided_at, a.decided_by, a.reason, s.label as reason_label, a.text, a.waiting_since,
           extract(epoch from a.decided_at - a.waiting_since)::float8 as waited_s,
           coalesce(a.audit_id = d.audit_id, false) as stands, a.undone_at, a.undone_by,
           case when p.appeal_id is not null then coalesce(p.outcome, 'open') end as appeal_outcome,
           p.text as appeal_text, p.opened_at as appealed_at, p.decided_by as appeal_decided_by,
           p.decided_at as appeal_decided_at, p.answer as appeal_answer, (
             select coalesce(jsonb_agg(jsonb_build_object(
               'written_at', m.written_at, 'written_by', m.written_by, 'text', m.text) order by m.message_id), '[]')
             from game_messages m
             where m.game_id = a.game_id and m.kind <> 'note'
               and m.written_at > coalesce((select max(decided_at) from game_audits before
                 where before.game_id = a.game_id and before.audit_id < a.audit_id), '-infinity')
               and m.written_at <= coalesce((select min(decided_at) from game_audits after
                 where after.game_id = a.game_id and after.audit_id > a.audit_id), 'infinity')
           ) as thread
    from (
      select * from game_audits where audit_id > ${after} and decided_at >= ${since} order by audit_id limit ${limit}
    ) as a
    join games g using (game_id)
    join game_revisions r on r.game_id = a.game_id and r.revision = a.revision
    left join reasons s on s.code = a.reason
    left join lateral standing_decision(a.game_id) d on true
    left join game_appeals p on p.audit_id = a.audit_id
    order by a.audit_id`;
