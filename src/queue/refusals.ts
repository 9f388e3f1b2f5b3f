import { safeMessage } from '#src/errors.ts';

/**
 * Remembers the commands of queues that Redis refuses, such as those on a key that somebody gave another type. A worker
 * repeats them each second, while Redis answers all others.
 * @param lastingMs a refusal counts once it has been repeated for this time
 */
export const createRefusals = (lastingMs: number) => {
  const refusals = new Map<string, { error: Error; since: number; at: number }>();
  return {
    note: (queue: string, error: Error): void => {
      if (error.name !== 'ReplyError') return;
      const at = performance.now();
      const former = refusals.get(queue);
      const since = former !== undefined && at - former.at < lastingMs ? former.since : at;
      refusals.set(queue, { error, since, at });
    },
    /** Names the first queue whose commands are refused. */
    fault: (): string | undefined => {
      const now = performance.now();
      for (const [queue, { error, since, at }] of refusals)
        if (now - at < lastingMs && now - since >= lastingMs)
          return `jobs of ${queue} are not taken: ${safeMessage(error)}`;
      return undefined;
    },
  };
};
