/** Runs that operators start and cancel. */

import { randomUUIDv7 } from 'node:crypto';
import { z } from 'zod';
import { findRun, type RunRow } from '#db/queries/runs.ts';
import { TransactionRestart } from '#db/transact.ts';
import { runDocument } from '#src/contract/documents.ts';
import { CANCELLED } from '#src/contract/words.ts';
import { NotFoundError } from '#src/errors.ts';
import { closeEarly } from '#src/ingest/finish-run.ts';
import { runEnded } from '#src/ingest/run-ended.ts';
import { queryGameDetail, queryGameList } from '#src/ingest/specs.ts';
import { enqueueNextPage, openRun, stepId } from '#src/ingest/steps.ts';
import {
  applicationSubject,
  oneApplication,
  requireActiveApplication,
} from '#src/operations/applications.ts';
import { type Context, defineOperation } from '#src/operations/operation.ts';
import { refuseIfTwoNeeded } from '#src/operations/second-person.ts';
import type { AnySpec } from '#src/queue/job.ts';
import type { Producer } from '#src/queue/producer.ts';

/** `full`: fetch every detail, changed or not. */
const newRun = oneApplication.extend({ full: z.boolean().default(false) });

/** The open run, and whether this call opened it. Otherwise nothing is changed. */
type Started = { run: RunRow; opened: boolean };

const enqueue = async <Result extends Started>(result: Result, _: unknown, { producer }: Context) => {
  const { run, opened } = result;
  if (opened) await enqueueNextPage(await producer(), run);
  return { run, opened };
};

const started = z.object({ opened: z.boolean(), run: runDocument });

const manualRun = (given: z.infer<typeof newRun>) =>
  ({ ...given, run_id: randomUUIDv7(), trigger: 'manual' }) as const;

export const startManualRun = defineOperation({
  name: 'run.start',
  title: 'Start a run of an application, unless one is open',
  answer: started,
  right: 'manage_applications',
  input: newRun,
  subject: applicationSubject,
  run: async (tx, given) => {
    await requireActiveApplication(tx, given.application_id);
    return openRun(tx, { ...manualRun(given), accept_withdrawals: false });
  },
  log: ({ run, opened }, { full }) =>
    opened ? { details: { run_id: run.run_id, full, accept_withdrawals: false } } : [],
  after: enqueue,
});

/** The games that such a run will withdraw are not known yet, so if two persons are needed, there is nothing to approve. */
export const startAcceptingRun = defineOperation({
  name: 'run.start_accepting',
  title: 'Start a run that may withdraw more than half of the games',
  answer: started,
  right: 'accept_withdrawals',
  input: newRun,
  subject: applicationSubject,
  run: async (tx, given, { fourEyes }) => {
    await requireActiveApplication(tx, given.application_id);
    const alone = await refuseIfTwoNeeded(tx, fourEyes, 'withdrawals');
    return { ...(await openRun(tx, { ...manualRun(given), accept_withdrawals: true })), alone };
  },
  log: ({ run, opened, alone }, { full }) =>
    opened ? { details: { run_id: run.run_id, full, accept_withdrawals: true, ...alone } } : [],
  after: enqueue,
});

const oneRun = z.object({ run_id: z.guid().toLowerCase() });
export const runSubject = ({ run_id }: z.infer<typeof oneRun>): string => `run:${run_id}`;

/** Removes a job unless a worker runs it. */
const removeJob = async (producer: Producer, spec: AnySpec, id: string): Promise<void> => {
  const job = await producer.queue(spec).getJob(id);
  if (job === undefined || (await job.isActive())) return;
  // BullMQ refuses to remove a job that a worker has just taken, which then ends at its fence.
  await job.remove().catch(() => {});
};

/**
 * The run ends as abandoned, and its jobs leave the queue. An active job finds the fence stale at its next write. The
 * audit log has who cancelled it; the reason of a run is for the application's developer too.
 */
export const cancelRun = defineOperation({
  name: 'run.cancel',
  title: 'End an open run',
  answer: z.object({ cancelled: z.boolean(), run: runDocument }),
  right: 'manage_applications',
  input: oneRun,
  subject: runSubject,
  isLong: true,
  run: async (tx, { run_id }) => {
    const before = await findRun(tx, run_id);
    if (before === undefined) throw new NotFoundError('run', run_id);
    if (before.finished_at !== null) return { before, run: before, cancelled: false };
    const run = await closeEarly(tx, before, { outcome: 'abandoned', reason: CANCELLED });
    // The fence was raised meanwhile, or the run ended.
    if (run === undefined) throw new TransactionRestart();
    return { before, run, cancelled: true };
  },
  log: ({ cancelled }) => (cancelled ? {} : []),
  after: async ({ before, run, cancelled }, _, { producer: open }) => {
    if (!cancelled) return { run, cancelled };
    runEnded.publish(run);
    const producer = await open();
    await removeJob(producer, queryGameDetail, stepId(before, before.next_page - 1));
    await removeJob(producer, queryGameList, stepId(before, before.next_page));
    return { run, cancelled };
  },
});
