import { deleteFormerSecrets } from '#db/queries/event-webhooks.ts';
import { pruneEvents } from '#db/queries/events.ts';
import { pruneFailures } from '#db/queries/failures.ts';
import { pruneThumbnails } from '#db/queries/picture-keeping.ts';
import { BEFORE_ALL_RUNS, type FinishedRun, pruneRunDays, pruneRuns } from '#db/queries/run-days.ts';
import { BEFORE_ALL_PAGES, type PageKey, prunePages } from '#db/queries/runs.ts';
import type { JobContext } from '#src/ingest/dependencies.ts';
import { prune } from '#src/ingest/specs.ts';
import { expireFormerRecords, expireRemovedRecords } from '#src/kyc/expire.ts';
import { defineJob } from '#src/queue/job.ts';

const DAY_MS = 24 * 60 * 60_000;
/** Pages show what a run saw; a run with its counters stays at least as long. */
const KEEP_MS = DAY_MS;
/** Sums of the days of deleted runs. */
const KEEP_DAYS = 400;
/** A failure that happens again stays. */
const KEEP_FAILURES_MS = 90 * DAY_MS;
/** The guide of application developers and the OpenAPI document name it. */
const KEEP_EVENTS_MS = 90 * DAY_MS;
/** Rows a statement: locks stay short, and the job ends soon after an abort. */
const BATCH = 5_000;

/** Pictures a statement: each has up to 0.3 MB of thumbnails. */
const PICTURES_BATCH = 500;

/** Removed applications a pass: each is a transaction. */
const REMOVED_BATCH = 100;

/**
 * Delete old runs, pages, failures, events, thumbnails and KYC records. Revisions are bounded where they are written
 * (db/queries/games.ts).
 */
export const pruneJob = defineJob(prune, async (_payload, { deps, signal }: JobContext) => {
  let pages = 0;
  let runs = 0;
  let days = 0;
  let failures = 0;
  let pictures = 0;
  for (let after: PageKey | undefined = BEFORE_ALL_PAGES; after !== undefined && !signal.aborted; ) {
    const batch = await prunePages(deps.sql, KEEP_MS, BATCH, after);
    pages += batch.deleted;
    after = batch.last;
  }
  for (let after: FinishedRun | undefined = BEFORE_ALL_RUNS; after !== undefined && !signal.aborted; ) {
    const batch = await pruneRuns(deps.sql, KEEP_MS, BATCH, after);
    runs += batch.deleted;
    after = batch.last;
  }
  for (let batch = BATCH; batch === BATCH && !signal.aborted; ) {
    batch = await pruneRunDays(deps.sql, KEEP_DAYS, BATCH);
    days += batch;
  }
  for (let batch = BATCH; batch === BATCH && !signal.aborted; ) {
    batch = await pruneFailures(deps.sql, KEEP_FAILURES_MS, BATCH);
    failures += batch;
  }
  let events = 0;
  for (let batch = BATCH; batch === BATCH && !signal.aborted; ) {
    batch = await pruneEvents(deps.sql, KEEP_EVENTS_MS, BATCH);
    events += batch;
  }
  await deleteFormerSecrets(deps.sql);
  for (let batch = PICTURES_BATCH; batch === PICTURES_BATCH && !signal.aborted; ) {
    batch = await pruneThumbnails(deps.sql, deps.pictureKeepMs, PICTURES_BATCH);
    pictures += batch;
  }
  let records = 0;
  for (let batch = BATCH; batch === BATCH && !signal.aborted; ) {
    batch = await expireFormerRecords(deps.sql, deps.kycRetention, BATCH);
    records += batch;
  }
  let removed = 0;
  for (let batch = REMOVED_BATCH; batch === REMOVED_BATCH && !signal.aborted; ) {
    batch = await expireRemovedRecords(deps.sql, deps.kycRetention, REMOVED_BATCH);
    removed += batch;
  }
  return { pages, runs, days, failures, events, pictures, records, removed };
});
