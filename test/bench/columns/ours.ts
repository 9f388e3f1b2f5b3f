// The column "ours": the worker process as `catalogue worker` starts it.

import { readConfig } from '#src/config.ts';
import { createLogger } from '#src/logger.ts';
import { startWorker } from '#src/processes/worker.ts';
import { endWithParent } from '#test/bench/processes.ts';

endWithParent();
const config = readConfig();
const logger = createLogger(config.logLevel, { pretty: false, process: 'worker' });
const worker = await startWorker(config, config.databaseUrl ?? '', logger);
process.once('SIGTERM', async () => {
  await worker.stop();
  process.exit();
});
process.send?.({ ready: true });
