import type { Database } from '#db/client.ts';
import { type EventLog, hasUnplacedEvents, insertPositions } from '#db/queries/events.ts';

/** Most events that one transaction places, because other readers wait for its lock. */
const PLACED_AT_ONCE = 10_000;

/**
 * Gives every committed event of applications, or of the platform's stream, its position. One transaction at a time assigns
 * positions, in its own commit, so a reader who sees a position sees all smaller ones that ever appear. An event whose
 * transaction commits later gets a later position.
 */
export const placeEvents = async (sql: Database, log: EventLog = 'events'): Promise<void> => {
  for (let placed = PLACED_AT_ONCE; placed === PLACED_AT_ONCE; ) {
    if (!(await hasUnplacedEvents(sql, log))) return;
    placed = await insertPositions(sql, log, PLACED_AT_ONCE);
  }
};
