import type { Logger } from 'pino';
import { EXIT, type ExitCode } from '#src/errors.ts';

/** Longer than a worker's drain: whatever hangs then is left behind. */
const STOP_DEADLINE_MS = 40_000;
/** What is left open after an orderly stop has this long to close by itself. */
const LINGER_MS = 1_000;

/**
 * Start something, then run until SIGINT or SIGTERM, then stop it once and in order. A signal during the start
 * waits for the start to end; a second signal does not wait for the stop to end.
 */
export const runUntilSignalled = async (
  logger: Logger,
  start: () => Promise<() => Promise<void>>,
): Promise<ExitCode> => {
  const signalled = new Promise<string>((resolve) => {
    let seen = 0;
    const onSignal = (signal: string) => {
      seen += 1;
      if (seen > 1) process.exit(EXIT.failed);
      resolve(signal);
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  });
  const stop = await start();
  const signal = await signalled;
  logger.info({ signal }, 'stopping');
  const deadline = setTimeout(() => {
    logger.error('did not stop in time, leaving');
    process.exit(EXIT.failed);
  }, STOP_DEADLINE_MS);
  await stop();
  clearTimeout(deadline);
  logger.info('stopped');
  // A connection to a server that is away may still be trying, and would keep the process.
  setTimeout(() => process.exit(EXIT.done), LINGER_MS).unref();
  return EXIT.done;
};
