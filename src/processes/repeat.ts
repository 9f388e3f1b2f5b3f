import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { coerceError, safeMessage } from '#src/errors.ts';
import { onceEvery } from '#src/lib/once-every.ts';

/** A chore without a success for this time makes its process unready. Longer than any pass of the reconciler. */
const OVERDUE_MS = 5 * 60_000;
/** The failures of a chore are logged at most this often. */
const LOG_MS = 10_000;

export type Chore = {
  /** Why the process is not ready: the chore has not succeeded for five minutes. Undefined while it does. */
  fault: () => string | undefined;
  /** Resolves after the abort. It does not wait for the running chore, which may wait for an unreachable queue. */
  ended: Promise<void>;
};

/**
 * Runs a chore at once, and again `everyMs` after each end, until aborted. Logs its errors, at most one every 10 s.
 * @param options.overdueMs shorter in tests
 */
export const repeatUntilAborted = (
  everyMs: number,
  signal: AbortSignal,
  logger: Logger,
  name: string,
  chore: () => Promise<unknown>,
  { overdueMs = OVERDUE_MS }: { overdueMs?: number } = {},
): Chore => {
  let succeededAt = performance.now();
  const isLogDue = onceEvery(LOG_MS);
  let error: string | undefined;
  const onFailure = (thrown: unknown): void => {
    if (signal.aborted) return;
    error = safeMessage(coerceError(thrown));
    if (!isLogDue()) return;
    const forSeconds = Math.round((performance.now() - succeededAt) / 1_000);
    logger.warn({ chore: name, error, for_seconds: forSeconds }, 'chore failed');
  };
  const onSuccess = (): void => {
    succeededAt = performance.now();
    error = undefined;
  };
  // A new promise for each turn, because a race with a promise that lives as long as the process would keep memory of every
  // turn.
  let endTurn = (): void => {};
  signal.addEventListener('abort', () => endTurn());
  const repeat = async (): Promise<void> => {
    while (!signal.aborted) {
      const turn = Promise.withResolvers<void>();
      endTurn = turn.resolve;
      void chore().then(onSuccess, onFailure).then(turn.resolve);
      await turn.promise;
      await sleep(everyMs, undefined, { signal }).catch(() => {});
    }
  };
  return {
    ended: repeat(),
    fault: () => {
      const forMs = performance.now() - succeededAt;
      if (forMs < overdueMs) return undefined;
      return `the chore "${name}" has not succeeded for ${Math.round(forMs / 1_000)} s: ${error ?? 'it does not end'}`;
    },
  };
};
