import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { EXIT, type ExitCode } from '#src/errors.ts';

/** Longer than a worker's drain: whatever hangs then is left behind. */
const STOP_DEADLINE_MS = 40_000;
/** A start that waits for a server which is away may never end. */
const START_DEADLINE_MS = 10_000;
/** What is left open after an orderly stop has this long to close by itself. */
const LINGER_MS = 1_000;

export type Running = {
  stop: () => Promise<void>;
  /** Resolves with the reason when it can't go on. */
  lost?: Promise<string>;
};

/**
 * Start something, then run until SIGINT or SIGTERM, then stop it once and in order. A signal during the start
 * waits ten seconds for the start to end; a second signal does not wait for the stop to end. What can't go on is
 * stopped as well, for whoever supervises it to start it again.
 * @returns `failed` when it could not go on
 */
export const runUntilSignalled = async (logger: Logger, start: () => Promise<Running>): Promise<ExitCode> => {
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
  let starting = true;
  void signalled.then(async (signal) => {
    if (!starting) return;
    logger.info({ signal }, 'stopping once it has started');
    await sleep(START_DEADLINE_MS);
    if (!starting) return;
    logger.warn('it did not start in time, leaving');
    process.exit(EXIT.done);
  });
  const { stop, lost = new Promise<never>(() => {}) } = await start().finally(() => {
    starting = false;
  });
  const exitCode = await Promise.race([
    signalled.then((signal) => {
      logger.info({ signal }, 'stopping');
      return EXIT.done;
    }),
    lost.then((reason) => {
      logger.error({ reason }, 'can not go on, stopping');
      return EXIT.failed;
    }),
  ]);
  const deadline = setTimeout(() => {
    logger.error('did not stop in time, leaving');
    process.exit(EXIT.failed);
  }, STOP_DEADLINE_MS);
  await stop();
  clearTimeout(deadline);
  logger.info('stopped');
  // A connection to a server that is away may still be trying, and would keep the process.
  setTimeout(() => process.exit(exitCode), LINGER_MS).unref();
  return exitCode;
};
