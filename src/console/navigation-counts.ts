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

type NavigationCounter = {
  /** Returns the latest counts at once: no page waits for them. They are behind by seconds, after a pause by more. */
  counts: () => Counts;
  /** Reads them anew, after a change. */
  refresh: () => void;
};

export const createNavigationCounts = (sql: Database): NavigationCounter => {
  let counts: Counts = { places: {}, decided: {} };
  let readAt = Number.NEGATIVE_INFINITY;
  let begun = 0;
  let shown = 0;
  const read = async (): Promise<void> => {
    begun += 1;
    const turn = begun;
    try {
      const [waiting, decided] = await Promise.all([readNavigationCounts(sql), countDecisionsToday(sql)]);
      // A read that began before another one is out of date.
      if (turn < shown) return;
      shown = turn;
      counts = { places: toPlaces(waiting), decided };
    } catch {
      // The page that is shown reports a database that is down.
    }
  };
  const refresh = (): void => {
    readAt = performance.now();
    void read();
  };
  return {
    counts: () => {
      if (performance.now() - readAt >= FRESH_MS) refresh();
      return counts;
    },
    refresh,
  };
};
