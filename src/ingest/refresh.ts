import type { Database } from '#db/client.ts';
import {
  type DueRefresh,
  deleteRefreshes,
  findRequestedList,
  listDueRefreshes,
} from '#db/queries/refreshes.ts';
import { pullGameDetail } from '#src/ingest/specs.ts';
import { startRun } from '#src/ingest/steps.ts';
import type { Producer } from '#src/queue/producer.ts';
import { STORAGE } from '#src/rules/budgets.ts';

type Foundation = { sql: Database; producer: Producer };

/** Opens a run for the whole list, if it is requested and may be read. */
const startListRun = async (
  foundation: Foundation,
  { application_id, may_list }: DueRefresh,
): Promise<void> => {
  const { sql } = foundation;
  const list = may_list ? await findRequestedList(sql, application_id) : undefined;
  if (list === undefined) return;
  const options = { trigger: 'refresh', full: list.is_full, accept_withdrawals: false } as const;
  const { opened } = await startRun(foundation, { application_id, ...options });
  if (opened) await deleteRefreshes(sql, application_id, [list]);
};

/**
 * Adds a job for each application with requested games: at most one job an application at a time. The job shares the
 * application's rate with a run by turns (src/ingest/for-each-paced.ts). The requests stay in Postgres until their results
 * are written, so a lost queue loses none; one that is repeated meanwhile is pulled again.
 */
export const addRefreshes = async (foundation: Foundation, limit: number): Promise<void> => {
  const due = await listDueRefreshes(foundation.sql, limit, STORAGE.bytesPerDay);
  await Promise.all(
    due.map(async (application) => {
      const { application_id, has_games } = application;
      await startListRun(foundation, application);
      if (has_games)
        await foundation.producer.add(pullGameDetail, { application_id }, { once: application_id });
    }),
  );
};
