import { randomUUIDv7 } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { HEARTBEAT_MS, recordHeartbeat, removeWorker } from '#db/queries/workers.ts';
import { jobs } from '#jobs/index.ts';
import type { Config } from '#src/config.ts';
import { openKeyRing } from '#src/kyc/local-key-ring.ts';
import { startRunner } from '#src/queue/runner.ts';
import { openFoundation, quietly } from '#src/roles/foundation.ts';
import { reconcile } from '#src/roles/reconcile.ts';
import { repeatUntilAborted } from '#src/roles/repeat.ts';
import type { Role } from '#src/roles/role.ts';
import { createTargetOpener } from '#src/runs/open-target.ts';
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
 * Start a worker: every queue of the fleet, the heartbeat, and the reconciler (one of the fleet's workers at a
 * time). Stops in reverse order.
 */
export const startWorker = async (config: Config, databaseUrl: string, logger: Logger): Promise<Role> => {
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
  const keys = await openKeyRing({ encryptionKeys: config.encryptionKeys, home: config.home });
  const webhooks = createWebhookClient({ egress: createEgressPolicy(config.webhooks) });
  started.defer(() => webhooks.close());
  const openTarget = createTargetOpener(keys);
  const deps = { sql, webhooks, producer, keys, openTarget, pageCap: PAGE_CAP };

  const runner = startRunner(backend, jobs, deps, logger, quietly(logger, 'the queue'));
  started.defer(() => runner.stop(DRAIN_MS));
  await runner.ready();

  const worker = { worker_id: randomUUIDv7(), host: hostname(), pid: process.pid };
  const chores = new AbortController();
  const running = Promise.all([
    repeatUntilAborted(HEARTBEAT_MS, chores.signal, logger, 'heartbeat', () => recordHeartbeat(sql, worker)),
    repeatUntilAborted(RECONCILE_MS, chores.signal, logger, 'reconcile', () =>
      reconcile(sql, producer, logger, chores.signal),
    ),
  ]);
  started.defer(async () => {
    chores.abort();
    await running;
    await removeWorker(sql, worker.worker_id).catch(() => {});
  });
  const all = started.move();
  return { name: 'worker', address: null, stop: () => all.disposeAsync() };
};
