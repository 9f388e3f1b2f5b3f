import type { Database } from '#db/client.ts';
import { findPage } from '#db/queries/run-pages.ts';
import type { RunRow, StoredPage } from '#db/queries/runs.ts';
import { queryGameDetail, queryGameList } from '#src/ingest/specs.ts';
import type { Producer } from '#src/queue/producer.ts';

/**
 * Pages that change nothing follow each other in one job, because such a page costs less than a job: at most this
 * many, as long as each begins within this time. Other applications wait no longer than for one slow page.
 */
export const PAGES_A_JOB = 16;
export const GO_ON_MS = 200;

/** A step's place: its run, the run's fence and the run's next page. */
type Step = Pick<RunRow, 'application_id' | 'run_id' | 'fence' | 'next_page'>;

/** Job ids carry the fence: a finished job that BullMQ keeps never swallows a job of a later fence. */
export const stepId = (run: Pick<RunRow, 'run_id' | 'fence'>, page_num: number): string =>
  `${run.run_id}.${run.fence}.${page_num}`;

/** Payload of the job that fetches the run's next page. */
export const pageStep = ({ application_id, run_id, fence, next_page }: Step) => ({
  application_id,
  run_id,
  fence,
  page_num: next_page,
});

/** Does this page wait for details? */
export const isOpen = (page: Pick<StoredPage, 'open_games'> | undefined): boolean =>
  page !== undefined && Object.keys(page.open_games).length > 0;

/** Does the run's newest recorded page wait for details? */
export const hasOpenGames = async (sql: Database, run: RunRow): Promise<boolean> =>
  isOpen(await findPage(sql, run.run_id, run.next_page - 1));

/**
 * Add the run's next step: its next page or, when the listing has ended, its end. If details of the page before are
 * wanted, they come first, as the step's child (design, section 4, step 3). A step that is there already is not
 * added again.
 */
export const enqueueNextStep = async (
  producer: Producer,
  run: Step,
  detailsWanted: boolean,
  details_again?: number,
): Promise<void> => {
  const step = pageStep(run);
  const id = stepId(run, step.page_num);
  if (!detailsWanted) {
    await producer.add(queryGameList, step, { id });
    return;
  }
  const details = { ...step, page_num: step.page_num - 1 };
  await producer.addAfter(
    { job: queryGameList, payload: { ...step, details_again }, id },
    { job: queryGameDetail, payload: details, id: stepId(run, details.page_num) },
  );
};
