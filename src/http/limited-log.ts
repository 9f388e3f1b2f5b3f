import type { FastifyBaseLogger } from 'fastify';

const EVERY_MS = 1_000;

/**
 * Creates a log of refused requests: at most one line a second for each kind, with the number of requests that it left out.
 * A client that repeats a request must not fill the log.
 * @returns a function; its `kind` is one of a few words
 */
export const createLimitedLog = () => {
  const last = new Map<string, { until: number; skipped: number }>();
  return (log: FastifyBaseLogger, kind: string, fields: Record<string, unknown>, message: string): void => {
    const now = performance.now();
    const before = last.get(kind) ?? { until: Number.NEGATIVE_INFINITY, skipped: 0 };
    if (now < before.until) {
      before.skipped += 1;
      return;
    }
    last.set(kind, { until: now + EVERY_MS, skipped: 0 });
    log.warn({ ...fields, skipped: before.skipped }, message);
  };
};
