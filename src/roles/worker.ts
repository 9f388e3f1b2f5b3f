import { randomUUIDv7 } from 'node:crypto';
import { hostname } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import type { Logger } from 'pino';
import { deleteWorker, recordHeartbeat } from '#db/queries/workers.ts';
import { jobs } from '#jobs/index.ts';
import type { Config } from '#src/config.ts';
import { EXIT } from '#src/errors.ts';
import { createTargetOpener } from '#src/ingest/open-target.ts';
import { reconcile } from '#src/ingest/reconcile.ts';
import { runEnded } from '#src/ingest/run-ended.ts';
import { observeWebhooks } from '#src/metrics/webhook-calls.ts';
import { startLiveness } from '#src/queue/liveness.ts';
import { startRunner } from '#src/queue/runner.ts';
import { openFoundation, quietly } from '#src/roles/foundation.ts';
import { repeatUntilAborted } from '#src/roles/repeat.ts';
import type { Role } from '#src/roles/role.ts';
import { openKeyRing } from '#src/sealing/key-ring.ts';
import { createWebhookClient } from '#src/webhooks/client.ts';
import { createEgressPolicy } from '#src/webhooks/egress.ts';

/** Statements of up to this many jobs at once; each waits a moment at most. */
const DATABASE_CONNECTIONS = 20;
/** Longer than one whole call may take: a worker that is told to stop ends its calls, then aborts. */
const DRAIN_MS = 20_000;
const RECONCILE_MS = 60_000;
/** Most pages of one listing: two million games at a hundred a page. */
const PAGE_CAP = 20_000;
/**
 * How much further the heap may grow, in per cent of what lived, before its old part is collected. V8's own
 * choice is up to four times, which for a worker is garbage alone: its peak at an application of 100,000 games
 * was 296 MB against 231 at one of 10,000, and is 205 at both with this, at the same CPU time a game.
 */
const HEAP_GROWTH_PERCENT = 50;

/** Waits of a worker that tests of faults shorten. */
export type WorkerTiming = {
  lockMs?: number;
  drainMs?: number;
  lookMs?: number;
  reconcileMs?: number;
  idleMs?: number;
};

/** One line for each run this process ends, however it ends. @returns how to stop */
const logRuns = (logger: Logger): (() => void) =>
  runEnded.subscribe(({ run_id, application_id, outcome, reason, started_at, finished_at, ...counts }) => {
    const { listed, inserted, updated, unchanged, invalid, failed, missing, withdrawn } = counts;
    const ms = (finished_at ?? new Date()).getTime() - started_at.getTime();
    const games = { listed, inserted, updated, unchanged, invalid, failed, missing, withdrawn };
    logger.info({ run_id, application_id, outcome, reason, ms, ...games }, 'run ended');
  });

/**
 * Start a worker: every queue of the fleet, the liveness, and the reconciler (one of the fleet's workers at a
 * time). Waits for a Redis that is away. Ends the process with exit code 1 when it finds itself stuck, so that
 * its supervisor starts it anew: what a killed worker leaves behind, the fleet takes up. Stops in reverse order.
 */
export const startWorker = async (
  config: Config,
  databaseUrl: string,
  logger: Logger,
  timing: WorkerTiming = {},
): Promise<Role> => {
  const { drainMs = DRAIN_MS, reconcileMs = RECONCILE_MS, lockMs, idleMs, lookMs } = timing;
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`);
  await using started = new AsyncDisposableStack();
  const foundation = started.use(
    openFoundation(config, databaseUrl, {
      role: 'worker',
      name: 'worker',
      maxConnections: DATABASE_CONNECTIONS,
      logger,
    }),
  );
  const { sql, backend, producer } = foundation;
  await sql`select 1`;
  for (const warning of await backend.check()) logger.warn(warning);
  const keys = await openKeyRing(config);
  if (keys.records.length === 0) {
    logger.warn('there is no key for KYC records: set ENCRYPTION_KEYS. Games are ingested, KYC fails.');
  }
  const webhooks = observeWebhooks(createWebhookClient({ egress: createEgressPolicy(config.webhooks) }));
  started.defer(() => webhooks.close());
  const openTarget = createTargetOpener(keys);
  const deps = { sql, webhooks, producer, keys, openTarget, pageCap: PAGE_CAP };

  const onError = quietly(logger, 'the queue');
  started.defer(logRuns(logger));
  const runner = startRunner(backend, jobs, deps, logger, onError, lockMs === undefined ? {} : { lockMs });
  started.defer(() => runner.stop(drainMs));
  await runner.ready();

  const worker = { worker_id: randomUUIDv7(), host: hostname(), pid: process.pid };
  const liveness = startLiveness({
    backend,
    producer,
    runner,
    recordHeartbeat: () => recordHeartbeat(sql, worker),
    onStuck: () => process.exit(EXIT.failed),
    logger,
    ...(lookMs === undefined ? {} : { lookMs }),
  });
  started.defer(async () => {
    await liveness.stop();
    await deleteWorker(sql, worker.worker_id).catch(() => {});
  });
  const chores = new AbortController();
  const reconciling = repeatUntilAborted(reconcileMs, chores.signal, logger, 'reconcile', () =>
    reconcile({ sql, backend, producer, logger }, chores.signal, idleMs === undefined ? {} : { idleMs }),
  );
  started.defer(() => {
    chores.abort();
    return reconciling;
  });
  const all = started.move();
  return {
    name: 'worker',
    address: null,
    isReady: liveness.isReady,
    stop: () => all.disposeAsync(),
  };
};
