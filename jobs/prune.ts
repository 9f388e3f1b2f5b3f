import { pruneEvents } from '#db/queries/events.ts';
import { pruneFailures } from '#db/queries/failures.ts';
import { pruneThumbnails } from '#db/queries/picture-keeping.ts';
import { deleteFormerSecrets } from '#db/queries/receivers.ts';
import { BEFORE_ALL_RUNS, pruneRunDays, pruneRuns } from '#db/queries/run-days.ts';
import { BEFORE_ALL_PAGES, prunePages } from '#db/queries/runs.ts';
import { pruneStream } from '#db/queries/stream.ts';
import type { JobContext } from '#src/ingest/dependencies.ts';
import { prune } from '#src/ingest/specs.ts';
import { expireFormerRecords, expireRemovedRecords } from '#src/operations/kyc-retention.ts';
import { operateAsSystem } from '#src/operations/operate.ts';
import { defineJob } from '#src/queue/job.ts';

const DAY_MS = 24 * 60 * 60_000;
/** Runs and their pages stay this long; the newest runs of an application stay longer (db/queries/run-days.ts). */
const KEEP_RUNS_MS = DAY_MS;
/** Sums of the days of deleted runs. */
const KEEP_DAYS = 400;
/** Of a failure, since it last happened. */
const KEEP_FAILURES_MS = 90 * DAY_MS;
/** The guide of application developers and the OpenAPI document name it. */
const KEEP_EVENTS_MS = 90 * DAY_MS;
/** Rows a statement: locks stay short, and the job ends soon after an abort. */
const BATCH = 5_000;

/** Pictures a statement: each has up to 0.3 MB of thumbnails. */
const PICTURES_BATCH = 500;

/** Removed applications a pass: each is a transaction. */
const REMOVED_BATCH = 100;

/** Repeats a statement that deletes at most `batch` rows until it finds fewer. @returns how many were deleted */
const deleteAll = async (
  batch: number,
  signal: AbortSignal,
  deleteSome: (limit: number) => Promise<number>,
): Promise<number> => {
  let total = 0;
  for (let deleted = batch; deleted === batch && !signal.aborted; ) {
    deleted = await deleteSome(batch);
    total += deleted;
  }
  return total;
};

/** The same for a statement that reads all rows from `first` on, and says after which row the next call continues. */
const deleteFrom = async <Row>(
  first: Row,
  signal: AbortSignal,
  deleteSome: (after: Row) => Promise<{ deleted: number; last: Row | undefined }>,
): Promise<number> => {
  let total = 0;
  for (let after: Row | undefined = first; after !== undefined && !signal.aborted; ) {
    const { deleted, last } = await deleteSome(after);
    total += deleted;
    after = last;
  }
  return total;
};

/**
 * Deletes what nothing needs any more: runs, pages, sums of days, failures, events, former secrets, thumbnails, KYC
 * records. Revisions are bounded where they are written (db/queries/games.ts).
 */
export const pruneJob = defineJob(prune, async (_payload, { deps, signal }: JobContext) => {
  const { sql, kycRetention } = deps;
  const pages = await deleteFrom(BEFORE_ALL_PAGES, signal, (after) =>
    prunePages(sql, KEEP_RUNS_MS, BATCH, after),
  );
  const runs = await deleteFrom(BEFORE_ALL_RUNS, signal, (after) =>
    pruneRuns(sql, KEEP_RUNS_MS, BATCH, after),
  );
  const days = await deleteAll(BATCH, signal, (limit) => pruneRunDays(sql, KEEP_DAYS, limit));
  const failures = await deleteAll(BATCH, signal, (limit) => pruneFailures(sql, KEEP_FAILURES_MS, limit));
  const stream = await deleteAll(BATCH, signal, (limit) => pruneStream(sql, KEEP_EVENTS_MS, limit));
  const events = await deleteAll(BATCH, signal, (limit) => pruneEvents(sql, KEEP_EVENTS_MS, limit));
  await deleteFormerSecrets(sql);
  const pictures = await deleteAll(PICTURES_BATCH, signal, (limit) =>
    pruneThumbnails(sql, deps.pictureKeepMs, limit),
  );
  const records = await deleteAll(BATCH, signal, (limit) =>
    operateAsSystem(expireFormerRecords, { keep_ms: kycRetention.formerMs, limit }, 'prune', sql),
  );
  const removed = await deleteAll(REMOVED_BATCH, signal, (limit) =>
    expireRemovedRecords(sql, kycRetention.removedMs, limit),
  );
  return { pages, runs, days, failures, stream, events, pictures, records, removed };
});
