// The column "ours": the worker role as `catalogue worker` starts it.
import { readConfig } from '#src/config.ts';
import { createLogger } from '#src/logger.ts';
import { startWorker } from '#src/roles/worker.ts';
import { endWithParent } from '../processes.ts';

endWithParent();
const config = readConfig();
const logger = createLogger(config.logLevel, { pretty: false, role: 'worker' });
const worker = await startWorker(config, config.databaseUrl ?? '', logger);
process.once('SIGTERM', async () => {
  await worker.stop();
  // By itself, so that `--cpu-prof` writes its file.
  process.exit();
});
process.send?.({ ready: true });
