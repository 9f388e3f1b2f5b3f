import { randomUUIDv7 } from 'node:crypto';
import { hostname } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import pTimeout from 'p-timeout';
import type { Logger } from 'pino';
import { readTime } from '#db/client.ts';
import { endOverdueSessions } from '#db/queries/connections.ts';
import type { KycRequest } from '#db/queries/kyc.ts';
import { deleteWorker, listWorkerQueues, recordHeartbeat } from '#db/queries/workers.ts';
import { jobs } from '#jobs/index.ts';
import type { Config } from '#src/config.ts';
import { RUN_COUNTERS } from '#src/contract/words.ts';
import { explainWorkerQueues } from '#src/contract/worker-queues.ts';
import { coerceError, EXIT } from '#src/errors.ts';
import { reconcile } from '#src/ingest/reconcile.ts';
import { runEnded } from '#src/ingest/run-ended.ts';
import { FIRST_SCHEDULE } from '#src/ingest/schedules.ts';
import { addUrgentJobs } from '#src/ingest/urgent-jobs.ts';
import { recordSealed } from '#src/kyc/record-sealed.ts';
import { onceEvery } from '#src/lib/once-every.ts';
import { claimQueue } from '#src/processes/claim-queue.ts';
import type { FleetPart } from '#src/processes/fleet-part.ts';
import { createQueueErrorLog, openFoundation, openQueues } from '#src/processes/foundation.ts';
import { createJobDependencies } from '#src/processes/job-dependencies.ts';
import { repeatUntilAborted } from '#src/processes/repeat.ts';
import { startLiveness } from '#src/queue/liveness.ts';
import { startRunner } from '#src/queue/runner.ts';
import { openTrustedClock } from '#src/queue/trusted-clock.ts';
import { MOST_UNREACHABLE } from '#src/rules/backoff.ts';
import { createEventBox } from '#src/sealing/event-box.ts';
import { openKeyRing } from '#src/sealing/key-ring.ts';

const DATABASE_CONNECTIONS = 20;
/** At shutdown, a worker aborts its jobs after this time, which is longer than the timeout of a webhook call (15 s). */
const DRAIN_MS = 20_000;
/** A stop does not wait longer for a database that is down. */
const DELETE_MS = 2_000;
const RECONCILE_MS = 60_000;
const URGENT_JOBS_MS = 1_000;
const SESSIONS_MS = 30_000;
const UNREACHABLE_LOG_MS = 60 * 60_000;
/**
 * V8 collects its old space when the heap has grown by this percentage (default: up to 300). A run of 100,000 games then
 * peaks at 205 MB instead of 296 MB, with the same CPU time per game.
 */
const HEAP_GROWTH_PERCENT = 50;

/**
 * Intervals and deadlines. Tests of faults shorten them. After `idleMs`, the reconciler ends a database session
 * whose client has sent only a part of a statement, and recovers a run that has no job and made no progress.
 */
export type WorkerTiming = Partial<
  Record<'lockMs' | 'drainMs' | 'checkMs' | 'reconcileMs' | 'idleMs', number>
>;

/**
 * Logs each run that this process ends and, at most once an hour, that most applications are unreachable.
 * @returns a function that stops the logging
 */
const logRuns = (logger: Logger): (() => void) => {
  const isDue = onceEvery(UNREACHABLE_LOG_MS);
  return runEnded.subscribe(
    ({ run_id, application_id, outcome, reason, started_at, finished_at, ...run }) => {
      const ms = (finished_at ?? new Date()).getTime() - started_at.getTime();
      const counts = Object.fromEntries(RUN_COUNTERS.map((counter) => [counter, run[counter]]));
      logger.info({ run_id, application_id, outcome, reason, ms, ...counts }, 'run ended');
      if (!reason?.endsWith(MOST_UNREACHABLE) || !isDue()) return;
      logger.warn(
        `${MOST_UNREACHABLE}. Meanwhile, failed runs of unreachable applications do not count: they neither delay nor pause an application.`,
      );
    },
  );
};

/**
 * Starts a worker: the jobs of every queue, the liveness check, and three chores. Every worker tries the reconciler and the
 * urgent jobs, of which at most one worker of the fleet does each at any time; every worker ends overdue sessions.
 * Waits until the queue is reachable. A stuck worker ends its process with exit code 1, so that its supervisor restarts it.
 */
export const startWorker = async (
  config: Config,
  databaseUrl: string,
  logger: Logger,
  timing: WorkerTiming = {},
): Promise<FleetPart> => {
  const { drainMs = DRAIN_MS, reconcileMs = RECONCILE_MS, lockMs, idleMs, checkMs } = timing;
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`);
  await using started = new AsyncDisposableStack();
  const foundation = started.use(
    openFoundation(config, databaseUrl, {
      use: 'worker',
      name: 'worker',
      maxConnections: DATABASE_CONNECTIONS,
      logger,
    }),
  );
  const { sql, backend, producer } = foundation;
  const clock = await openTrustedClock(() => readTime(sql));
  await backend.check();
  const claim = await claimQueue(foundation, logger);
  const keys = await openKeyRing(config);
  if (keys.records.length === 0) {
    logger.warn(
      'no key for KYC records: set ENCRYPTION_KEYS. Until then KYC pulls fail, and so do all webhook calls to applications whose access token was sealed with ENCRYPTION_KEYS.',
    );
  } else
    await createEventBox(sql, keys).catch((error: unknown) =>
      logger.warn(
        { err: coerceError(error) },
        'the portal cannot set addresses of events until a worker starts again',
      ),
    );
  const deps = createJobDependencies(config, { sql, producer, keys }, started);

  const onError = createQueueErrorLog(logger);
  started.defer(logRuns(logger));
  started.defer(recordSealed.subscribe((ids) => logger.info(ids, 'kyc record sealed')));
  // After the last job, because one that is aborted returns to the queue.
  started.defer(() => claim.release().catch(() => {}));
  const runner = startRunner(backend, jobs, deps, clock, logger, onError, { lockMs });
  started.defer(() => runner.stop(drainMs));
  await runner.ready();

  const worker = { worker_id: randomUUIDv7(), host: hostname(), pid: process.pid };
  let problem: string | undefined;
  const liveness = startLiveness({
    backend,
    producer,
    runner,
    clock,
    recordHeartbeat: async () => {
      await recordHeartbeat(sql, { ...worker, queue: await claim.keep() });
      const former = problem;
      problem = explainWorkerQueues(await listWorkerQueues(sql));
      if (problem !== undefined && problem !== former) logger.warn(problem);
    },
    onStuck: () => process.exit(EXIT.failed),
    logger,
    checkMs,
  });
  started.defer(async () => {
    await liveness.stop();
    // A silent Postgres does not answer. Other processes ignore a worker whose heartbeat is old.
    await pTimeout(deleteWorker(sql, worker.worker_id), { milliseconds: DELETE_MS, message: false }).catch(
      () => {},
    );
  });
  // The first two chores use their own connections to the queues. These connections fail when Redis is silent, so that a pass
  // ends; and the chores do not delay the worker's commands.
  const queues = started.use(openQueues(config, databaseUrl, 'producer', () => {}));
  const chores = new AbortController();
  let from = FIRST_SCHEDULE;
  // A worker whose clock is wrong leaves both to the others, because BullMQ plans schedules by the clock of the process.
  const reconciling = repeatUntilAborted(reconcileMs, chores.signal, logger, 'reconcile', async () => {
    if (clock.fault() === undefined)
      from = await reconcile({ sql, ...queues, logger }, chores.signal, { from, idleMs });
  });
  let after: KycRequest | undefined;
  const addingUrgentJobs = repeatUntilAborted(
    URGENT_JOBS_MS,
    chores.signal,
    logger,
    'urgent jobs',
    async () => {
      if (clock.fault() === undefined) after = await addUrgentJobs(sql, queues.producer, { after });
    },
  );
  // Each worker does it, because a session that keeps the lock of the reconciler stops the other chores.
  const endingSessions = repeatUntilAborted(SESSIONS_MS, chores.signal, logger, 'sessions', async () => {
    const ended = await endOverdueSessions(sql);
    if (ended > 0) logger.warn({ ended }, 'ended sessions of Postgres that stopped others');
  });
  started.defer(async () => {
    chores.abort();
    await Promise.all([reconciling.ended, addingUrgentJobs.ended, endingSessions.ended]);
  });
  const all = started.move();
  return {
    name: 'worker',
    address: null,
    sql,
    fault: () => liveness.fault() ?? runner.fault() ?? addingUrgentJobs.fault() ?? reconciling.fault(),
    stop: () => all.disposeAsync(),
  };
};
