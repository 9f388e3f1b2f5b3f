/** The thread of a game. Triggers keep its rules (db/migrations/0001_functions.sql). */
import type { InferSelectModel } from 'drizzle-orm';
import type { Fragment } from 'postgres';
import type { Queryable } from '#db/client.ts';
import type { GameRow } from '#db/queries/games.ts';
import { type ListPage, readListPage } from '#db/queries/list-page.ts';
import { onlyRow, readColumn } from '#db/rows.ts';
import type { gameMessages } from '#db/schema/threads.ts';
import { where } from '#db/where.ts';
import type { AuditStatus } from '#src/contract/words.ts';

export type MessageRow = InferSelectModel<typeof gameMessages>;

export const insertMessage = (
  tx: Queryable,
  message: Pick<MessageRow, 'game_id' | 'kind' | 'written_by' | 'text'>,
): Promise<MessageRow> => onlyRow(tx<MessageRow[]>`insert into game_messages ${tx(message)} returning *`);

/** An entry of a thread: a message, an appeal, or the decision on one. `entry` is unique. */
export type ThreadEntry = {
  entry: string;
  game_id: string;
  kind: MessageRow['kind'] | 'appeal' | 'upheld' | 'overturned';
  /** Its application's developer, or an operator. */
  written_by: string;
  text: string;
  written_at: Date;
};

export const THREAD_SORTS = ['written_at'] as const;

/** Reads one page of the thread of a game. @param filter.is_public leaves out what operators alone may read */
export const listThreadPage = (
  sql: Queryable,
  { game_id, is_public = false }: { game_id: string; is_public?: boolean | undefined },
  page: ListPage<(typeof THREAD_SORTS)[number]>,
) =>
  readListPage<ThreadEntry>(sql, page, {
    columns: sql`t.*`,
    from: sql`(
      select 'm' || lpad(message_id::text, 19, '0') as entry, game_id, kind, written_by, text, written_at
      from game_messages where game_id = ${game_id}
      union all
      select 'a' || lpad(appeal_id::text, 19, '0'), game_id, 'appeal', application_id, text, opened_at
      from game_appeals where game_id = ${game_id}
      union all
      select 'd' || lpad(appeal_id::text, 19, '0'), game_id, outcome, decided_by, answer, decided_at
      from game_appeals where game_id = ${game_id} and decided_by is not null
    ) as t ${where(sql, [is_public && sql`kind <> 'note'`])}`,
    sort_by: sql`t.written_at`,
    id: sql`t.entry`,
  });

/**
 * Is the message `m` the newest text of the thread of its game `g` that the developer reads, and can be answered? An appeal and
 * its decision are texts. Postgres looks up each message by index: it makes no join of these subqueries.
 */
const isUnanswered = (sql: Queryable) => sql`
  m.kind = 'message' and g.withdrawn_at is null
  and m.message_id = (
    select l.message_id from game_messages l where l.game_id = m.game_id and l.kind <> 'note'
    order by l.message_id desc limit 1)
  and m.written_at >= coalesce((
    select max(greatest(p.opened_at, p.decided_at)) from game_appeals p where p.game_id = m.game_id), m.written_at)`;

/** At most this many messages to a developer are read, the latest first. */
const MESSAGES_MAX = 1_000;

/**
 * The latest messages `m` to the developer of an application that are not answered, one a game, with their games `g`.
 * It ends in a condition, which may be followed by `and`. db/queries/api-games.ts explains the array and the leading column.
 */
export const unansweredMessages = (sql: Queryable, application_id: Fragment) => sql`(
  select * from game_messages where application_id = any (array[${application_id}]) and kind = 'message'
  order by application_id desc, message_id desc limit ${MESSAGES_MAX}
) m join games g using (game_id) where ${isUnanswered(sql)}`;

/** A message that its developer has not answered, without the name of its writer. */
export type UnansweredMessage = Pick<MessageRow, 'text'> &
  Pick<GameRow, 'application_game_id' | 'game_name'> & {
    /** How many messages wait. */
    messages: number;
  };

/** Reads the latest messages that the developer of an application has not answered. @param audit_status of their games */
export const listUnanswered = (
  sql: Queryable,
  application_id: string,
  limit: number,
  audit_status?: AuditStatus,
): Promise<UnansweredMessage[]> =>
  sql<UnansweredMessage[]>`
    select m.text, g.application_game_id, g.game_name, count(*) over ()::int as messages
    from ${unansweredMessages(sql, sql`${application_id}`)}
      ${audit_status === undefined ? sql`` : sql`and g.audit_status = ${audit_status}`}
    order by m.message_id desc limit ${limit}`;

/** Finds which of some games have a message that their developer has not answered. */
export const findUnanswered = async (
  sql: Queryable,
  games: readonly Pick<GameRow, 'game_id'>[],
): Promise<Set<string>> =>
  new Set(
    await readColumn(sql<{ game_id: string }[]>`
      select m.game_id from game_messages m join games g using (game_id)
      where m.game_id = any (${games.map(({ game_id }) => game_id)}::uuid[]) and ${isUnanswered(sql)}`),
  );
