import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { coerceError, safeMessage } from '#src/errors.ts';

/**
 * Do a chore at once and then every `everyMs`, until aborted. A failing chore is logged and tried again. Ends
 * at once when aborted, whatever the chore waits for: a queue that is away may keep it for ever.
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
