import { BEFORE_ALL_PAGES, type PageKey, prunePages, pruneRuns } from '#db/queries/runs.ts';
import type { JobContext } from '#src/ingest/dependencies.ts';
import { prune } from '#src/ingest/specs.ts';
import { defineJob } from '#src/queue/job.ts';

const DAY_MS = 24 * 60 * 60_000;
/** Pages show what a run saw; its counters stay longer. */
const KEEP_PAGES_MS = 3 * DAY_MS;
const KEEP_RUNS_MS = 90 * DAY_MS;
/** Rows a statement: locks stay short, and the job ends soon after an abort. */
const BATCH = 5_000;

/** Delete old runs and pages. */
export const pruneJob = defineJob(prune, async (_payload, { deps, signal }: JobContext) => {
  let pages = 0;
  let runs = 0;
  for (let after: PageKey | undefined = BEFORE_ALL_PAGES; after !== undefined && !signal.aborted; ) {
    const batch = await prunePages(deps.sql, KEEP_PAGES_MS, BATCH, after);
    pages += batch.deleted;
    after = batch.last;
  }
  for (let batch = BATCH; batch === BATCH && !signal.aborted; ) {
    batch = await pruneRuns(deps.sql, KEEP_RUNS_MS, BATCH);
    runs += batch;
  }
  return { pages, runs };
});
