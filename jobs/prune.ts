import { BEFORE_ALL_PAGES, type PageKey, prunePages, pruneRuns } from '#db/queries/runs.ts';
import type { JobContext } from '#src/ingest/dependencies.ts';
import { prune } from '#src/ingest/specs.ts';
import { defineJob } from '#src/queue/job.ts';

const DAY_MS = 24 * 60 * 60_000;
/** Pages answer "what did that run see" while anybody may still ask; a run's counters stay longer. */
const KEEP_PAGES_MS = 3 * DAY_MS;
const KEEP_RUNS_MS = 90 * DAY_MS;
/** Rows. Small bites: no long lock, and the job ends soon when it is told to. */
const BITE = 5_000;

/** Delete what has served its time. */
export const pruneJob = defineJob(prune, async (_payload, { deps, signal }: JobContext) => {
  let pages = 0;
  let runs = 0;
  for (let after: PageKey | undefined = BEFORE_ALL_PAGES; after !== undefined && !signal.aborted; ) {
    const bite = await prunePages(deps.sql, KEEP_PAGES_MS, BITE, after);
    pages += bite.deleted;
    after = bite.last;
  }
  for (let bite = BITE; bite === BITE && !signal.aborted; ) {
    bite = await pruneRuns(deps.sql, KEEP_RUNS_MS, BITE);
    runs += bite;
  }
  return { pages, runs };
});
