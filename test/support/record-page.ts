import type { Database } from '#db/client.ts';
import type { ApplicationGameList } from '#src/contract/application.ts';
import { type ListCursor, recordPage as record } from '#src/ingest/record-page.ts';
import { createProcessPace } from '#src/webhooks/pace.ts';

/** Records a page as the job does, in a process that has done nothing before. */
export const recordPage = (
  sql: Database,
  cursor: ListCursor,
  response: ApplicationGameList,
  pageCap: number,
) => record({ sql, pace: createProcessPace(), pageCap }, cursor, response);
