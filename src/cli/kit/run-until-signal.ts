import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { EXIT, type ExitCode } from '#src/errors.ts';

/** Longer than a worker takes to finish its jobs. */
const STOP_TIMEOUT_MS = 40_000;
/** A start that waits for an unreachable server may never end. */
const START_TIMEOUT_MS = 10_000;
/** Open handles keep a stopped process alive for at most this time. */
const EXIT_DELAY_MS = 1_000;

export type Running = {
  stop: () => Promise<void>;
  /** Resolves with the reason when the process cannot continue. */
  lost?: Promise<string>;
};

/**
 * Starts a process, runs it until SIGINT or SIGTERM, then stops it. After a signal during the start, the start has 10 s to
 * end, or none with `exitsWhileStarting`, because the embedded Postgres stops at the exit. A second signal exits at once. A
 * process that cannot continue stops too, and its supervisor restarts it.
 * @returns `failed` when the process could not continue
 */
export const runUntilSignal = async (
  logger: Logger,
  start: () => Promise<Running>,
  { exitsWhileStarting = false } = {},
): Promise<ExitCode> => {
  let starting = true;
  const signalled = new Promise<string>((resolve) => {
    let count = 0;
    const onSignal = (signal: NodeJS.Signals) => {
      count += 1;
      if (starting && exitsWhileStarting) process.exit(128 + constants.signals[signal]);
      if (count > 1) process.exit(EXIT.failed);
      resolve(signal);
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  });
  void signalled.then(async (signal) => {
    if (!starting) return;
    logger.info({ signal }, 'stopping after the start');
    await sleep(START_TIMEOUT_MS);
    if (!starting) return;
    logger.warn('did not start in time, exiting');
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
      logger.error({ reason }, 'cannot continue, stopping');
      return EXIT.failed;
    }),
  ]);
  const deadline = setTimeout(() => {
    logger.error('did not stop in time, exiting');
    process.exit(EXIT.failed);
  }, STOP_TIMEOUT_MS);
  await stop();
  clearTimeout(deadline);
  logger.info('stopped');
  // A connection that still retries an unreachable server would keep the process alive.
  setTimeout(() => process.exit(exitCode), EXIT_DELAY_MS).unref();
  return exitCode;
};
