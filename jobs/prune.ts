import { pruneEvents } from '#db/queries/events.ts';
import { pruneFailures } from '#db/queries/failures.ts';
import { pruneThumbnails } from '#db/queries/picture-keeping.ts';
import { deleteFormerSecrets } from '#db/queries/receivers.ts';
import { BEFORE_ALL_RUNS, pruneRunDays, pruneRuns } from '#db/queries/run-days.ts';
import { BEFORE_ALL_PAGES, prunePages } from '#db/queries/runs.ts';
import { pruneStream } from '#db/queries/stream.ts';
import type { JobContext } from '#src/ingest/dependencies.ts';
import { prune } from '#src/ingest/specs.ts';
import { DAY_MS } from '#src/lib/duration.ts';
import { runEach } from '#src/lib/run-each.ts';
import { expireFormerRecords, expireRemovedRecords } from '#src/operations/kyc-retention.ts';
import { operateAsSystem } from '#src/operations/operate.ts';
import { defineJob } from '#src/queue/job.ts';

/** Runs and their pages are kept this long; the newest runs of an application are kept longer (db/queries/run-days.ts). */
const KEEP_RUNS_MS = DAY_MS;
/** The sums by day of deleted runs are kept this many days. */
const KEEP_DAYS = 400;
/** Failures are kept this long after they last happened. */
const KEEP_FAILURES_MS = 90 * DAY_MS;
/** Events are kept this long. The developer's guide and the OpenAPI document name it. */
const KEEP_EVENTS_MS = 90 * DAY_MS;
/** Rows of one statement, so that locks stay short, and the job ends soon after an abort. */
const BATCH = 5_000;

/** Pictures of one statement, because each has up to 0.3 MB of thumbnails. */
const PICTURES_BATCH = 500;

/** Repeats a statement that reads rows from `first` on and returns the last row that it read. @returns how many were deleted */
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

/** The same for a statement that deletes at most `batch` rows, until it finds fewer. */
const deleteAll = (batch: number, signal: AbortSignal, deleteSome: (limit: number) => Promise<number>) =>
  deleteFrom(batch, signal, async () => {
    const deleted = await deleteSome(batch);
    return { deleted, last: deleted === batch ? batch : undefined };
  });

/**
 * Deletes what nothing needs any more: KYC records, runs, pages, sums of days, failures, events, former secrets,
 * thumbnails. A step that fails does not keep the others from running. Revisions are bounded where they are written
 * (db/queries/games.ts).
 */
export const pruneJob = defineJob(prune, async (_payload, { deps, signal }: JobContext) => {
  const { sql, kycRetention, pictureKeepMs } = deps;
  const all = (deleteSome: (limit: number) => Promise<number>) => () => deleteAll(BATCH, signal, deleteSome);
  const steps = {
    // First, because the law limits how long they are kept.
    records: all((limit) =>
      operateAsSystem(expireFormerRecords, { keep_ms: kycRetention.formerMs, limit }, 'prune', sql),
    ),
    removed: () => expireRemovedRecords(sql, kycRetention.removedMs, signal),
    secrets: () => deleteFormerSecrets(sql),
    pages: () => deleteFrom(BEFORE_ALL_PAGES, signal, (after) => prunePages(sql, KEEP_RUNS_MS, BATCH, after)),
    runs: () => deleteFrom(BEFORE_ALL_RUNS, signal, (after) => pruneRuns(sql, KEEP_RUNS_MS, BATCH, after)),
    days: all((limit) => pruneRunDays(sql, KEEP_DAYS, limit)),
    failures: all((limit) => pruneFailures(sql, KEEP_FAILURES_MS, limit)),
    stream: all((limit) => pruneStream(sql, KEEP_EVENTS_MS, limit)),
    events: () => deleteFrom('', signal, (after) => pruneEvents(sql, KEEP_EVENTS_MS, BATCH, after)),
    pictures: () => deleteAll(PICTURES_BATCH, signal, (limit) => pruneThumbnails(sql, pictureKeepMs, limit)),
  };
  const counts = await runEach(Object.values(steps), signal);
  return Object.fromEntries(Object.keys(steps).map((name, index) => [name, counts[index] ?? 0]));
});
