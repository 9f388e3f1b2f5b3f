/** Explains why requested pictures do not arrive, from the queue of the media process. */
import type { Job, Queue } from 'bullmq';
import pTimeout from 'p-timeout';
import { explainThrown } from '#src/errors.ts';
import { fetchPictures } from '#src/ingest/specs.ts';
import { timeOf } from '#src/lib/utc.ts';
import type { Producer } from '#src/queue/producer.ts';
import { clock, html, type SafeHtml } from '#src/site/html.ts';

/** A page waits for the queue at most this long. */
const QUEUE_WAIT_MS = 1_000;
const LATE = `it did not answer within ${QUEUE_WAIT_MS / 1_000} s. Reload this page when it does.`;
/** A job that is older is late. */
const LATE_MS = 5 * 60_000;

export type PictureDelay =
  | { cause: 'queue_paused' }
  | { cause: 'queue_unreadable'; fault: string }
  /** The oldest job waits: no process takes jobs, or they are behind. Or it began and has not ended. */
  | { cause: 'not_taken' | 'behind' | 'not_finished'; since: Date };

/**
 * Reads the oldest job of a state, which is the last one, because newer ones may come before it meanwhile. By "ascending"
 * BullMQ gives the newest one if the queue is in PostgreSQL.
 */
const readOldest = async (queue: Queue, state: 'waiting' | 'active'): Promise<Job | undefined> => {
  const { [state]: count = 0 } = await queue.getJobCounts(state);
  return count === 0 ? undefined : (await queue.getJobs([state], count - 1)).at(-1);
};

const readQueue = async (producer: Producer): Promise<PictureDelay | null> => {
  const queue = producer.queue(fetchPictures);
  const [isPaused, waiting, active] = await Promise.all([
    queue.isPaused(),
    readOldest(queue, 'waiting'),
    readOldest(queue, 'active'),
  ]);
  if (isPaused) return { cause: 'queue_paused' };
  const lateBefore = Date.now() - LATE_MS;
  const sinceOf = (ms: number): Date => timeOf(ms) ?? new Date(0);
  const takenAt = active?.processedOn;
  if (waiting !== undefined && waiting.timestamp < lateBefore) {
    const isWorking = takenAt !== undefined && takenAt >= lateBefore;
    return { cause: isWorking ? 'behind' : 'not_taken', since: sinceOf(waiting.timestamp) };
  }
  if (takenAt !== undefined && takenAt < lateBefore)
    return { cause: 'not_finished', since: sinceOf(takenAt) };
  return null;
};

const START = html`Start one: <code>npx catalogue media</code>`;

/** Describes a delay, and what an operator can do about it. */
const describeDelay = (delay: PictureDelay): SafeHtml => {
  switch (delay.cause) {
    case 'not_taken':
      return html`No media process takes picture jobs: the oldest has waited since ${clock(delay.since)}. ${START}`;
    case 'behind':
      return html`The media processes are behind: the oldest picture job has waited since ${clock(delay.since)}. ${START}`;
    case 'not_finished':
      return html`A picture job began at ${clock(delay.since)} and has not ended.
Its media process may have been killed. ${START}`;
    case 'queue_paused':
      return html`The queue of picture jobs is paused. An administrator can resume it:
<a href="/queues/queue/${fetchPictures.name}">${fetchPictures.name}</a>`;
    case 'queue_unreadable':
      return html`Pictures are not requested, because their queue cannot be read: ${delay.fault}`;
  }
};

/** Shows why pictures are late; nothing if they are not. */
export const delayNotice = (delay: PictureDelay | null): SafeHtml | null =>
  delay && html`<p class="notice warn">${describeDelay(delay)}</p>`;

/** Reads whether picture jobs are late, and why. @returns null if they are not */
export const readPictureDelay = (producer: Producer): Promise<PictureDelay | null> =>
  pTimeout(readQueue(producer), {
    milliseconds: QUEUE_WAIT_MS,
    fallback: (): PictureDelay => ({ cause: 'queue_unreadable', fault: LATE }),
  }).catch((thrown: unknown) => ({ cause: 'queue_unreadable', fault: explainThrown(thrown) }));
