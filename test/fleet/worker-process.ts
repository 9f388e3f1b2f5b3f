// The real worker of the fleet, with waits that tests shorten: the first argument, as JSON.
import { runUntilSignal } from '#src/cli/kit/run-until-signal.ts';
import { readConfig } from '#src/config.ts';
import { coerceError } from '#src/errors.ts';
import { createLogger } from '#src/logger.ts';
import { startWorker } from '#src/processes/worker.ts';

const config = readConfig();
const logger = createLogger(config.logLevel, { pretty: false, process: 'worker' });
try {
  process.exitCode = await runUntilSignal(logger, async () => {
    const timing = JSON.parse(process.argv[2] ?? '{}');
    const role = await startWorker(config, config.databaseUrl ?? '', logger, timing);
    process.stdout.write('ready\n');
    return { stop: role.stop };
  });
} catch (thrown) {
  logger.error(coerceError(thrown).message);
  process.exitCode = 1;
}
