import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { coerceError, safeMessage } from '#src/errors.ts';

/**
 * Runs a chore at once, and again `everyMs` after each end, until aborted. Logs its errors. The abort does not wait for
 * the running chore, which may wait for an unreachable queue.
 */
export const repeatUntilAborted = async (
  everyMs: number,
  signal: AbortSignal,
  logger: Logger,
  name: string,
  chore: () => Promise<void>,
): Promise<void> => {
  const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  while (!signal.aborted) {
    const done = chore().catch((thrown: unknown) => {
      if (!signal.aborted)
        logger.warn({ chore: name, error: safeMessage(coerceError(thrown)) }, 'chore failed');
    });
    await Promise.race([done, aborted]);
    await sleep(everyMs, undefined, { signal }).catch(() => {});
  }
};
