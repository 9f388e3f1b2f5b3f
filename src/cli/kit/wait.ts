import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue } from 'bullmq';
import type { Database } from '#db/client.ts';
import type { KycStateRow } from '#db/queries/kyc.ts';
import { countPulled, type PulledCounts } from '#db/queries/pulled-games.ts';
import { hasWaitingGames } from '#db/queries/refreshes.ts';
import { countLiveWorkers } from '#db/queries/workers.ts';
import { formatCount } from '#src/cli/kit/format.ts';
import type { Output } from '#src/cli/kit/output.ts';
import { CatalogueError, EXIT, type ExitCode } from '#src/errors.ts';
import type { RequestedGames } from '#src/operations/pull-games.ts';
import type { Foundation } from '#src/processes/foundation.ts';

const POLL_MS = 200;
/** A worker that is starting records its first heartbeat within this time. */
const WORKER_START_MS = 15_000;

/** Workers may stop while a command waits. */
const WORKER_CHECK_MS = 5_000;

/** The limit of `--wait` without `--timeout`. */
export const WAIT_TIMEOUT_MS = 10 * 60_000;

const NO_WORKER = [
  'No worker takes jobs: start one with npx catalogue worker (or up).',
  'If one runs, its /readyz says what is wrong; no answer: end it with kill -9 and start it again. The work stays in the queue until then.',
].join(' ');

const hasWorker = async (sql: Database): Promise<boolean> => (await countLiveWorkers(sql)) > 0;

/** Warns if no worker runs. @returns whether one runs */
export const warnWithoutWorker = async (sql: Database, out: Output): Promise<boolean> => {
  const found = await hasWorker(sql);
  if (!found) out.note(NO_WORKER);
  return found;
};

/**
 * Calls `poll` until it returns a result. Warns if a queue is paused or no worker runs, also if the last one stops meanwhile.
 * @param options.hint ends the message of an error: what continues without this command, and which command shows it
 * @throws CatalogueError after `timeoutMs`, after 15 s without a worker, or at Ctrl-C
 */
export const waitForResult = async <Result>(
  { sql, producer }: Foundation,
  out: Output,
  poll: () => Promise<Result | undefined>,
  { timeoutMs, hint }: { timeoutMs: number; hint: string },
): Promise<Result> => {
  const interruption = Promise.withResolvers<never>();
  let interrupted = false;
  const interrupt = (error: CatalogueError): void => {
    interrupted = true;
    interruption.reject(error);
  };
  const onSignal = () => interrupt(new CatalogueError(hint, { exitCode: EXIT.interrupted }));
  const wait = async (): Promise<Result> => {
    const started = performance.now();
    let checkedMs = 0;
    let hasWarned = false;
    let workerSeen = await hasWorker(sql);
    if (!workerSeen) out.note(`No worker takes jobs yet: waiting ${WORKER_START_MS / 1_000} s for one.`);
    await warnOfPausedQueues(producer.queues(), out);
    for (;;) {
      const result = await poll();
      if (result !== undefined) return result;
      const waitedMs = performance.now() - started;
      workerSeen ||= await hasWorker(sql);
      if (!workerSeen && waitedMs > WORKER_START_MS) throw new CatalogueError(NO_WORKER);
      if (workerSeen && !hasWarned && waitedMs - checkedMs > WORKER_CHECK_MS) {
        checkedMs = waitedMs;
        hasWarned = !(await warnWithoutWorker(sql, out));
      }
      await sleep(POLL_MS);
      // The command ends and closes its connections, so this loop must not poll again.
      if (interrupted) return interruption.promise;
    }
  };
  process.once('SIGINT', onSignal);
  // A timer of its own, because a read of a slow server must not extend the limit.
  const timer = setTimeout(() => interrupt(new CatalogueError(`No result in time. ${hint}`)), timeoutMs);
  try {
    return await Promise.race([wait(), interruption.promise]);
  } finally {
    process.off('SIGINT', onSignal);
    clearTimeout(timer);
  }
};

/** Warns if a queue is paused, because its jobs then wait until it is resumed. */
const warnOfPausedQueues = async (queues: readonly Queue[], out: Output): Promise<void> => {
  const isPaused = await Promise.all(queues.map((queue) => queue.isPaused()));
  const names = queues.filter((_, index) => isPaused[index]).map(({ name }) => name);
  if (names.length > 0)
    out.note(`Paused queues start no jobs: ${names.join(', ')}. Resume them: npx catalogue queue resume`);
};

/**
 * Waits until the KYC records that were requested are pulled.
 * @returns their states, in the order of the ids
 * @throws CatalogueError also if an application is removed meanwhile
 */
export const waitForKyc = (
  foundation: Foundation,
  out: Output,
  application_ids: readonly string[],
): Promise<KycStateRow[]> => {
  const poll = async (): Promise<KycStateRow[] | undefined> => {
    // Not loaded for --help, because it loads zod.
    const { findKycState } = await import('#db/queries/kyc.ts');
    const states: KycStateRow[] = [];
    for (const application_id of application_ids) {
      const state = await findKycState(foundation.sql, application_id);
      if (state === undefined || state.is_removed)
        throw new CatalogueError(`${application_id} was removed: no worker pulls its record.`);
      if (state.requested_at !== null) return undefined;
      states.push(state);
    }
    return states;
  };
  const hint = 'The records stay requested: a worker pulls them.';
  return waitForResult(foundation, out, poll, { timeoutMs: WAIT_TIMEOUT_MS, hint });
};

/** The lines that tell what became of requested games: `acme: 2 inserted, 1 unchanged.`, then what is wrong. */
const describePulled = ({ application_id, games }: RequestedGames, counts: PulledCounts): string[] => {
  const { invalid, failed, missing } = counts;
  const written = (['inserted', 'updated', 'unchanged'] as const)
    .filter((counter) => counts[counter] > 0)
    .map((counter) => `${counts[counter]} ${counter}`);
  const lines = written.length > 0 ? [`${application_id}: ${written.join(', ')}.`] : [];
  const wrong = [
    ...(invalid > 0 ? [`${formatCount(invalid, 'detail')} invalid`] : []),
    ...(failed > 0 ? [`${formatCount(failed, 'detail')} failed`] : []),
  ];
  if (wrong.length > 0) lines.push(`${wrong.join(', ')}: npx catalogue failure list ${application_id}`);
  const [only] = games;
  const unknown = games.length === 1 ? `the game ${only?.application_game_id}` : formatCount(missing, 'game');
  if (missing > 0) lines.push(`${application_id} does not know ${unknown}.`);
  return lines;
};

/**
 * Prints what was requested or, with `--wait`, what became of it.
 * @returns `failed` if a detail failed, `partial` if details are invalid, else `done`
 */
export const reportPull = async (
  foundation: Foundation,
  out: Output,
  requested: RequestedGames,
  wait: boolean,
): Promise<ExitCode> => {
  const { sql } = foundation;
  const { application_id, games } = requested;
  if (!wait) {
    await warnWithoutWorker(sql, out);
    out.answer(
      { application_id, games: games.length },
      `Requested ${formatCount(games.length, 'game')} of ${application_id}.`,
    );
    return EXIT.done;
  }
  const ids = games.map(({ application_game_id }) => application_game_id);
  const poll = async () =>
    (await hasWaitingGames(sql, application_id, ids))
      ? undefined
      : countPulled(sql, application_id, requested);
  const hint = 'The games stay requested: a worker pulls them.';
  const counts = await waitForResult(foundation, out, poll, { timeoutMs: WAIT_TIMEOUT_MS, hint });
  out.answer({ application_id, ...counts }, ...describePulled(requested, counts));
  if (counts.failed > 0) return EXIT.failed;
  return counts.invalid > 0 ? EXIT.partial : EXIT.done;
};
