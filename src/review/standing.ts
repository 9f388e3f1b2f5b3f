import type { Queryable } from '#db/client.ts';
import { findHold, findPassObstacle, type HoldRow } from '#db/queries/holds.ts';
import { findLastVerdict, type PublicVerdict } from '#db/queries/verdicts.ts';
import type { PassObstacle } from '#src/contract/words.ts';

/** What decides whether games of an application can be live: its hold, and the last verdict on its developer. */
export type Standing = {
  hold: HoldRow | undefined;
  verdict: PublicVerdict | undefined;
  /** Why no game of it can be passed. */
  obstacle: PassObstacle | null;
};

export const readStanding = async (sql: Queryable, application_id: string): Promise<Standing> => {
  const [hold, verdict, obstacle] = await Promise.all([
    findHold(sql, application_id),
    findLastVerdict(sql, application_id),
    findPassObstacle(sql, application_id),
  ]);
  return { hold, verdict, obstacle };
};
