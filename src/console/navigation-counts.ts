/** What the frame of every page counts: what waits, and what its reader has decided. */
import type { Database } from '#db/client.ts';
import {
  FAILURES_COUNTED,
  type NavigationCounts,
  readNavigationCounts,
} from '#db/queries/navigation-counts.ts';
import { countDecisionsToday } from '#db/queries/review-figures.ts';
import { type Counter, createCounter } from '#src/site/counter.ts';
import { number, numberUpTo } from '#src/site/html.ts';
import type { PlaceCounts } from '#src/site/layout.ts';

const toPlaces = ({ pending, requests, failures, applications }: NavigationCounts): PlaceCounts => ({
  ...(pending > 0 && { '/review': number(pending) }),
  ...(applications > 0 && { '/applications': number(applications) }),
  ...(requests > 0 && { '/runs': number(requests) }),
  ...(failures > 0 && { '/failures': numberUpTo(FAILURES_COUNTED, failures) }),
});

/** What waits, by place, and how many games each operator has decided today. */
type Counts = { places: PlaceCounts; decided: Record<string, number> };

export const createNavigationCounts = (sql: Database): Counter<Counts> =>
  createCounter<Counts>({ places: {}, decided: {} }, async () => {
    const [waiting, decided] = await Promise.all([readNavigationCounts(sql), countDecisionsToday(sql)]);
    return { places: toPlaces(waiting), decided };
  });
