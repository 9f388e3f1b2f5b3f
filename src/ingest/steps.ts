import { randomUUIDv7 } from 'node:crypto';
import type { Database, Queryable } from '#db/client.ts';
import { isRegistered } from '#db/queries/applications.ts';
import { findPage } from '#db/queries/run-pages.ts';
import type { StoredPage } from '#db/queries/run-steps.ts';
import { findOpenRun, insertRun, type NewRun, type RunRow } from '#db/queries/runs.ts';
import { PermanentError } from '#src/errors.ts';
import { queryGameDetail, queryGameList } from '#src/ingest/specs.ts';
import type { Placement, Producer } from '#src/queue/producer.ts';

/**
 * Pages without wanted details follow each other in one job, because such a page costs less than a job. One job has at most
 * this many, as long as each begins within this time. Other applications wait no longer than for one slow page.
 */
export const PAGES_A_JOB = 32;
export const CONTINUE_MS = 500;

/** Result of a job whose run was closed, or recovered under a newer fence: the job wrote nothing. */
export const STALE_FENCE = { skipped: 'stale fence' } as const;

/** Where a run stands: its next page, under its fence. */
type Position = Pick<RunRow, 'application_id' | 'run_id' | 'fence' | 'next_page'>;

/** Job ids carry the fence, so that a finished job that BullMQ keeps never swallows a job of a later fence. */
export const stepId = (run: Pick<RunRow, 'run_id' | 'fence'>, page_num: number): string =>
  `${run.run_id}.${run.fence}.${page_num}`;

/** Does this page wait for details? */
export const isOpen = (page: Pick<StoredPage, 'open_games'> | undefined): boolean =>
  page !== undefined && Object.keys(page.open_games).length > 0;

/** Does the run's newest recorded page wait for details? */
export const hasOpenGames = async (sql: Database, run: RunRow): Promise<boolean> =>
  isOpen(await findPage(sql, run.run_id, run.next_page - 1));

/** Adds a job for the run's next page or, when the listing has ended, for its end. Adding it twice adds it once. */
export const enqueueNextPage = async (
  producer: Producer,
  run: Position,
  placement: Omit<Placement, 'id'> = {},
): Promise<void> => {
  const page_num = run.next_page;
  await producer.add(queryGameList, { ...run, page_num }, { id: stepId(run, page_num), ...placement });
};

/** Adds a job for the details of the page before, and one for the run's next page after it. Adding them twice adds them once. */
export const enqueueDetails = async (
  producer: Producer,
  run: Position,
  details_again?: number,
): Promise<void> => {
  const [page_num, earlier] = [run.next_page, run.next_page - 1];
  await producer.addAfter(
    { job: queryGameList, payload: { ...run, page_num, details_again }, id: stepId(run, page_num) },
    { job: queryGameDetail, payload: { ...run, page_num: earlier }, id: stepId(run, earlier) },
  );
};

/** Adds the run's next step. */
export const enqueueNextStep = (
  producer: Producer,
  run: Position,
  areDetailsWanted: boolean,
): Promise<void> => (areDetailsWanted ? enqueueDetails(producer, run) : enqueueNextPage(producer, run));

/**
 * Opens a run, unless one of its application is open.
 * @returns the run that is open now, and whether this call opened it
 * @throws PermanentError when there is no such application, or it is removed
 */
export const openRun = async (sql: Queryable, run: NewRun): Promise<{ run: RunRow; opened: boolean }> => {
  for (;;) {
    const inserted = await insertRun(sql, run);
    if (inserted !== undefined) return { run: inserted, opened: true };
    const open = await findOpenRun(sql, run.application_id);
    if (open !== undefined) return { run: open, opened: false };
    if (!(await isRegistered(sql, run.application_id)))
      throw new PermanentError(`There is no application ${run.application_id}.`);
    // The open run ended between the statements.
  }
};

/**
 * Opens a run and adds its first step, in one statement of Postgres.
 * @returns undefined if the application has an open run, backs off, or is not active
 */
export const startUndelayedRun = async (
  { sql, producer }: { sql: Database; producer: Producer },
  options: Omit<NewRun, 'run_id'>,
): Promise<RunRow | undefined> => {
  const run = await insertRun(sql, { run_id: randomUUIDv7(), ...options }, 'undelayed');
  if (run !== undefined) await enqueueNextPage(producer, run);
  return run;
};

/**
 * Opens a run and adds its first step, unless the application has an open run.
 * @returns the open run, and whether this call opened it
 */
export const startRun = async (
  { sql, producer }: { sql: Database; producer: Producer },
  options: Omit<NewRun, 'run_id'>,
): Promise<{ run: RunRow; opened: boolean }> => {
  const result = await openRun(sql, { run_id: randomUUIDv7(), ...options });
  if (result.opened) await enqueueNextPage(producer, result.run);
  return result;
};
