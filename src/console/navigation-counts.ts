/** What the frame of every page counts: what waits, and what its reader has decided. */
import type { Database } from '#db/client.ts';
import {
  FAILURES_COUNTED,
  type NavigationCounts,
  readNavigationCounts,
} from '#db/queries/navigation-counts.ts';
import { countDecisionsToday } from '#db/queries/review-figures.ts';
import { number } from '#src/site/html.ts';
import type { PlaceCounts } from '#src/site/layout.ts';

/** Pages of a process share what was read within this time. */
const FRESH_MS = 5_000;
/** Older counts are not shown. */
const SHOWN_MS = 60_000;

const toPlaces = ({ pending, requests, failures, applications }: NavigationCounts): PlaceCounts => {
  const shown = failures > FAILURES_COUNTED ? `${number(FAILURES_COUNTED)}+` : number(failures);
  return {
    ...(pending > 0 && { '/review': number(pending) }),
    ...(applications > 0 && { '/applications': number(applications) }),
    ...(requests > 0 && { '/runs': number(requests) }),
    ...(failures > 0 && { '/failures': shown }),
  };
};

/** What waits, by place, and how many games each operator has decided today. */
type Counts = { places: PlaceCounts; decided: Record<string, number> };

/** @returns the latest counts at once: no page waits for them. They are behind by seconds; the first page after a minute has none. */
export const createNavigationCounts = (sql: Database): (() => Counts) => {
  const none: Counts = { places: {}, decided: {} };
  let counts = none;
  let readAt = Number.NEGATIVE_INFINITY;
  const read = async (): Promise<void> => {
    try {
      const [waiting, decided] = await Promise.all([readNavigationCounts(sql), countDecisionsToday(sql)]);
      counts = { places: toPlaces(waiting), decided };
    } catch {
      // The page that is shown reports a database that is down.
    }
  };
  return () => {
    const now = performance.now();
    const age = now - readAt;
    if (age < FRESH_MS) return counts;
    if (age > SHOWN_MS) counts = none;
    readAt = now;
    void read();
    return counts;
  };
};
