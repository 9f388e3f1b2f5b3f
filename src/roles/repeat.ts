import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { coerceError, safeMessage } from '#src/errors.ts';

/** Do a chore at once and then every `everyMs`, until aborted. A failing chore is logged and tried again. */
export const repeatUntilAborted = async (
  everyMs: number,
  signal: AbortSignal,
  logger: Logger,
  name: string,
  chore: () => Promise<void>,
): Promise<void> => {
  while (!signal.aborted) {
    try {
      await chore();
    } catch (thrown) {
      if (!signal.aborted)
        logger.warn({ chore: name, error: safeMessage(coerceError(thrown)) }, 'chore failed');
    }
    await sleep(everyMs, undefined, { signal }).catch(() => {});
  }
};
