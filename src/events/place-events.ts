import type { Database } from '#db/client.ts';
import { hasUnplacedEvents, insertPositions, lockPositions } from '#db/queries/events.ts';

/** Events that one transaction places: its lock makes other readers wait. */
const PLACED_AT_ONCE = 10_000;

/**
 * Gives every committed event its position. One transaction at a time assigns positions, in its own commit: a reader who
 * sees a position sees all smaller ones that ever appear. An event whose transaction commits later gets a later position.
 */
export const placeEvents = async (sql: Database): Promise<void> => {
  for (let placed = PLACED_AT_ONCE; placed === PLACED_AT_ONCE; ) {
    if (!(await hasUnplacedEvents(sql))) return;
    placed = await sql.begin(async (tx) => {
      await lockPositions(tx);
      // A new statement sees what the transaction before this one has placed.
      return insertPositions(tx, PLACED_AT_ONCE);
    });
  }
};
