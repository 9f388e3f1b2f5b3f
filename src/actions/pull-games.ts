/**
 * Details that operators request. The queue may be in Redis, so the entry of the audit log is written before the jobs are
 * added: a request that fails is in the log too.
 */
import type { Job } from 'bullmq';
import type { Database } from '#db/client.ts';
import { type Actor, type AuditEntry, recordAudit } from '#db/queries/audit.ts';
import { listFailedGameIds } from '#db/queries/failures.ts';
import { LOGGED_IDS_MAX } from '#src/contract/audit.ts';
import { PULL_MAX, pullGameDetail } from '#src/ingest/specs.ts';
import type { Producer } from '#src/queue/producer.ts';

type Foundation = { sql: Database; producer: Producer };
type Request = { application_id: string; application_game_ids: readonly string[] };
/** The games that were requested, and the jobs that pull them. */
export type PulledGames = { games: number; jobs: Job[] };

/**
 * Adds jobs that pull these games, 100 a job. The jobs run one after another: at once, they would only share the
 * application's rate. A request for the games of a job that waits joins that job.
 */
const addPulls = async (producer: Producer, { application_id, application_game_ids: ids }: Request) => {
  const payloads = [];
  for (let start = 0; start < ids.length; start += PULL_MAX)
    payloads.push({ application_id, application_game_ids: ids.slice(start, start + PULL_MAX) });
  const [only, ...others] = payloads;
  return only !== undefined && others.length === 0
    ? [await producer.addOrJoin(pullGameDetail, only)]
    : producer.addInTurn(pullGameDetail, payloads);
};

const requestGames = async (
  { sql, producer }: Foundation,
  entry: Pick<AuditEntry, 'actor' | 'actor_kind' | 'os_user' | 'action' | 'details'>,
  request: Request,
): Promise<PulledGames> => {
  await recordAudit(sql, [{ ...entry, subject: `application:${request.application_id}` }]);
  return { games: request.application_game_ids.length, jobs: await addPulls(producer, request) };
};

/** Pulls games of an application by its own ids. */
export const pullGames = (
  foundation: Foundation,
  actor: Actor,
  { application_id, application_game_ids }: Request,
): Promise<PulledGames> => {
  const ids = [...new Set(application_game_ids)].sort();
  const details = { games: ids.length, application_game_ids: ids.slice(0, LOGGED_IDS_MAX) };
  return requestGames(
    foundation,
    { ...actor, action: 'game.pull', details },
    { application_id, application_game_ids: ids },
  );
};

/** Pulls the failed games of an application. Without one, nothing is written. */
export const retryFailedGames = async (
  foundation: Foundation,
  actor: Actor,
  application_id: string,
): Promise<PulledGames> => {
  const application_game_ids = await listFailedGameIds(foundation.sql, application_id);
  const games = application_game_ids.length;
  if (games === 0) return { games, jobs: [] };
  return requestGames(
    foundation,
    { ...actor, action: 'failure.retry', details: { games } },
    { application_id, application_game_ids },
  );
};
