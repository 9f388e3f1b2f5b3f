/** Details that operators request. Request and entry of the audit log are one transaction; a worker pulls them. */
import type { Database } from '#db/client.ts';
import { type Actor, type AuditEntry, recordAudit } from '#db/queries/audit.ts';
import { listFailedGameIds } from '#db/queries/failures.ts';
import { type GamesBefore, readGamesBefore } from '#db/queries/pulled-games.ts';
import { requestGames } from '#db/queries/refreshes.ts';
import { LOGGED_IDS_MAX } from '#src/contract/audit.ts';

/** Requested games as they were before; `countPulled` compares. */
export type RequestedGames = GamesBefore & { application_id: string };

const request = (
  sql: Database,
  entry: Omit<AuditEntry, 'subject'>,
  application_id: string,
  ids: readonly string[],
): Promise<RequestedGames> =>
  sql.begin(async (tx) => {
    const before = await readGamesBefore(tx, application_id, ids);
    if (ids.length > 0) {
      await recordAudit(tx, [{ ...entry, subject: `application:${application_id}` }]);
      await requestGames(tx, application_id, ids);
    }
    return { application_id, ...before };
  });

/** Requests games of an application by its own ids. */
export const pullGames = (
  sql: Database,
  actor: Actor,
  application_id: string,
  application_game_ids: readonly string[],
): Promise<RequestedGames> => {
  const ids = [...new Set(application_game_ids)].sort();
  const details = { games: ids.length, application_game_ids: ids.slice(0, LOGGED_IDS_MAX) };
  return request(sql, { ...actor, action: 'game.pull', details }, application_id, ids);
};

/** Requests the failed games of an application. Without one, nothing is written. */
export const retryFailedGames = async (
  sql: Database,
  actor: Actor,
  application_id: string,
): Promise<RequestedGames> => {
  const ids = await listFailedGameIds(sql, application_id);
  const details = { games: ids.length };
  return request(sql, { ...actor, action: 'failure.retry', details }, application_id, ids);
};
