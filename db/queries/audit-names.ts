import type { Queryable } from '#db/client.ts';
import { isUuid } from '#src/lib/uuid.ts';

/** Returns the ids of subjects `<kind>:<id>` of one kind. A subject may also be `game:*`. */
const idsOf = (subjects: readonly string[], kind: string): string[] =>
  subjects.flatMap((each) => {
    const id = each.slice(kind.length + 1);
    return each.startsWith(`${kind}:`) && isUuid(id) ? [id] : [];
  });

/** Reads names for subjects of the audit log whose ids say nothing: games, runs and tokens. */
export const nameAuditSubjects = async (
  sql: Queryable,
  subjects: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const rows = await sql<{ subject: string; name: string }[]>`
    select 'game:' || game_id as subject, game_name as name from games
    where game_id = any(${idsOf(subjects, 'game')}::uuid[])
    union all
    select 'run:' || run_id, application_id from sync_runs where run_id = any(${idsOf(subjects, 'run')}::uuid[])
    union all
    select 'token:' || token_id, name from api_tokens where token_id = any(${idsOf(subjects, 'token')}::uuid[])`;
  return new Map(rows.map(({ subject, name }) => [subject, name]));
};
