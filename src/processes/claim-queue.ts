import { setTimeout as sleep } from 'node:timers/promises';
import pTimeout from 'p-timeout';
import type { Logger } from 'pino';
import { areJobsTaken, readDatabaseIdentity } from '#db/queries/workers.ts';
import type { Foundation } from '#src/processes/foundation.ts';

const RETRY_MS = 5_000;
/** A stop does not wait longer for a server that is down, because the claim then ends by itself. */
const RELEASE_MS = 2_000;

const OTHER_DATABASE = [
  'Processes of another database take jobs from this queue, as when one database is a copy of the other.',
  'Each would lose jobs to the other.',
  'Give each database a QUEUE_PREFIX or a Redis of its own.',
  'A process starts once those of the other database have been silent for a minute.',
].join(' ');

/**
 * Waits until no other database has the queue.
 * @returns `keep` keeps the claim, and returns the name of the queue; call it more often than once a minute. It warns if
 * another database has the queue. `release` ends the claim if no process takes jobs, so that another database need not wait
 */
export const claimQueue = async (
  { sql, backend }: Pick<Foundation, 'sql' | 'backend'>,
  logger: Logger,
): Promise<{ keep: () => Promise<string>; release: () => Promise<void> }> => {
  const database = await readDatabaseIdentity(sql);
  let queue = '';
  let isOurs = true;
  const keep = async (): Promise<string> => {
    const claimed = await backend.claim(database);
    if (isOurs && claimed === undefined) logger.warn(OTHER_DATABASE);
    isOurs = claimed !== undefined;
    queue = claimed ?? queue;
    return queue;
  };
  for (await keep(); !isOurs; await keep()) await sleep(RETRY_MS);
  const endClaim = async (): Promise<void> => {
    if (!(await areJobsTaken(sql))) await backend.release(database);
  };
  const release = async (): Promise<void> => {
    await pTimeout(endClaim(), { milliseconds: RELEASE_MS, message: false });
  };
  return { keep, release };
};
