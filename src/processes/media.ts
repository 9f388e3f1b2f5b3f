import { randomUUID } from 'node:crypto';
import { readTime } from '#db/client.ts';
import { listStored } from '#db/queries/picture-store.ts';
import { mediaJobs } from '#jobs/index.ts';
import { createEgressPolicy } from '#src/egress/egress.ts';
import { EXIT } from '#src/errors.ts';
import { carryOverDecisions, mediaSpecs, recheckPictures, tidyPictureStore } from '#src/ingest/specs.ts';
import { createReopenGames } from '#src/operations/reopen-games.ts';
import { createFileStore } from '#src/picture-store/file-store.ts';
import { openPictureStore } from '#src/picture-store/open-store.ts';
import { createDecoder, requireConfined } from '#src/pictures/decoder.ts';
import type { MediaDependencies } from '#src/pictures/dependencies.ts';
import { createPictureKeeper } from '#src/pictures/keeper.ts';
import { createPictures } from '#src/pictures/refresh.ts';
import { claimQueue } from '#src/processes/claim-queue.ts';
import type { StartPart } from '#src/processes/fleet-part.ts';
import { createQueueErrorLog, openFoundation } from '#src/processes/foundation.ts';
import { repeatUntilAborted } from '#src/processes/repeat.ts';
import { startLiveness } from '#src/queue/liveness.ts';
import { startRunner } from '#src/queue/runner.ts';
import { openTrustedClock } from '#src/queue/trusted-clock.ts';

const DATABASE_CONNECTIONS = 10;
/** At shutdown, running jobs are aborted after this time, which is longer than one request with its decoding. */
const DRAIN_MS = 20_000;
/** The time between two checks of decided pictures, or PICTURE_RECHECK if it is shorter. */
const CHECK_EVERY_MS = 60_000;
/** The time between two looks at the whole store, which cost an index look-up for each picture. */
const TIDY_EVERY_MS = 60 * 60_000;

/**
 * Starts the worker of the picture jobs. It opens no key and no token, because it handles pictures of applications, which
 * a child process decodes (src/pictures/decoder.ts). Waits until Redis is reachable.
 */
export const startMedia: StartPart = async (config, databaseUrl, logger) => {
  const { maxBytes, recheckMs, keepMs, store: location } = config.pictures;
  await using started = new AsyncDisposableStack();
  const { sql, backend, producer } = started.use(
    openFoundation(config, databaseUrl, {
      use: 'worker',
      name: 'media',
      maxConnections: DATABASE_CONNECTIONS,
      specs: mediaSpecs,
      logger,
    }),
  );
  const clock = await openTrustedClock(() => readTime(sql));
  await backend.check();
  const { keep: keepQueue } = await claimQueue({ sql, backend }, logger);
  const decoder = createDecoder();
  started.defer(() => decoder.close());
  await requireConfined(decoder, { isEmbedded: config.databaseUrl === undefined, logger });
  const egress = createEgressPolicy(config.webhooks);
  const isNew =
    location?.kind === 'file' &&
    (await listStored(sql, { after: '', limit: 1, keepMs })).contents.length === 0;
  if (isNew) await createFileStore(location.directory);
  const store = location && (await openPictureStore(location));
  started.defer(() => store?.close());
  const keeper = store && createPictureKeeper({ sql, store, keepMs, logger });
  const pictures = createPictures({
    sql,
    egress,
    decoder,
    keeper,
    maxBytes,
    recheckMs,
    reopenGames: createReopenGames(sql),
  });
  started.defer(() => pictures.close());
  const deps: MediaDependencies = { sql, pictures, keeper, recheckMs };

  const runner = startRunner(backend, mediaJobs, deps, clock, logger, createQueueErrorLog(logger));
  started.defer(() => runner.stop(DRAIN_MS));
  await runner.ready();
  const liveness = startLiveness({
    backend,
    producer,
    runner,
    clock,
    recordHeartbeat: async () => {
      await sql`select 1`;
      await keepQueue();
    },
    onStuck: () => process.exit(EXIT.failed),
    logger,
  });
  started.defer(() => liveness.stop());
  // Each media process adds its own jobs, so that as many of them run at once as there are processes.
  const once = randomUUID();
  const chores = new AbortController();
  const every = Math.min(CHECK_EVERY_MS, recheckMs / 4);
  const checking = repeatUntilAborted(every, chores.signal, logger, 'recheck', async () => {
    await producer.add(recheckPictures, {}, { once });
    await producer.add(carryOverDecisions, {}, { once });
  });
  const tidying =
    keeper &&
    repeatUntilAborted(TIDY_EVERY_MS, chores.signal, logger, 'tidy', async () => {
      await producer.add(tidyPictureStore, {}, { once: 'all' });
    });
  started.defer(async () => {
    chores.abort();
    await Promise.all([checking.ended, tidying?.ended]);
  });
  const all = started.move();
  const fault = () => liveness.fault() ?? runner.fault() ?? checking.fault();
  return { name: 'media', address: null, sql, fault, stop: () => all.disposeAsync() };
};
