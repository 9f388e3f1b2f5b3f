// The column "ours": the worker role as `catalogue worker` starts it. An argument narrows it to so many batches of
// details at once.

import { readConfig } from '#src/config.ts';
import { queryGameDetail } from '#src/ingest/specs.ts';
import { createLogger } from '#src/logger.ts';
import { startWorker } from '#src/processes/worker.ts';
import { endWithParent } from '#test/bench/processes.ts';

endWithParent();
const [detailJobs] = process.argv.slice(2);
if (detailJobs !== undefined) queryGameDetail.options.concurrency = Number(detailJobs);
const config = readConfig();
const logger = createLogger(config.logLevel, { pretty: false, process: 'worker' });
const worker = await startWorker(config, config.databaseUrl ?? '', logger);
process.once('SIGTERM', async () => {
  await worker.stop();
  // By itself, so that `--cpu-prof` writes its file.
  process.exit();
});
process.send?.({ ready: true });
