import { formatDuration, MINUTE_MS } from '#src/lib/duration.ts';

/** The next run reads a game this many intervals later at most, because it may begin late, and takes some time. */
const NEXT_RUN = 1.25;

/** Returns the time within which the next run has read a game, in milliseconds. @param everyMs the interval of the schedule */
export const nextRunMs = (everyMs: number): number => everyMs * NEXT_RUN;

/** Describes how long addresses last, rounded, because a signature names a second and a response takes a moment. */
export const formatLifetime = (lastMs: number): string => {
  const unitMs = lastMs < 2 * MINUTE_MS ? 1_000 : MINUTE_MS;
  return formatDuration(Math.max(0, Math.round(lastMs / unitMs)) * unitMs);
};

/**
 * Explains why addresses do not last until they are replaced; null if they do.
 * @param lastMs how long addresses are valid after a response; null if they have no end
 * @param whose `your` for the developer
 */
export const explainShortAddresses = (
  lastMs: number | null,
  everyMs: number,
  whose: 'its' | 'your' = 'its',
): string | null => {
  if (lastMs === null || lastMs >= nextRunMs(everyMs)) return null;
  const wanted = formatDuration(Math.ceil(nextRunMs(everyMs) / MINUTE_MS) * MINUTE_MS);
  const read = `${whose} games are read every ${formatDuration(everyMs)}`;
  const end = `${whose} addresses end ${formatLifetime(lastMs)} after an answer`;
  return `${end}, and ${read}: in between, what the platform serves has ended. Sign addresses for at least ${wanted}`;
};
