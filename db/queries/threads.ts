/** The thread of a game. Triggers keep its rules (db/migrations/0001_functions.sql). */
import type { InferSelectModel } from 'drizzle-orm';
import type { Queryable } from '#db/client.ts';
import { type ListPage, readListPage } from '#db/queries/list-page.ts';
import { onlyRow } from '#db/rows.ts';
import type { gameMessages } from '#db/schema/threads.ts';
import { where } from '#db/where.ts';

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
