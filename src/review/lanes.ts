/**
 * The review room, for the console, the portal and the command line. Games wait for a decision in one of two lanes (this
 */

import type { Queryable } from '#db/client.ts';
import type { GameRow } from '#db/queries/games.ts';
import { listHeldApplications } from '#db/queries/holds.ts';
import {
  countBeforeInChangedLane,
  countBeforeInNewLane,
  countLanes,
  findChangedSince,
  listLanePage,
  readMedianWaitMs,
} from '#db/queries/lanes.ts';
import type { Lane } from '#src/contract/words.ts';
import type { WaitingPlace } from '#src/rules/answer.ts';

/** How many games each lane has, and since when the first one waits; null if the lane is empty. */
export type LaneSummary = Record<Lane, { games: number; oldest: Date | null }>;

/** Summarises both lanes, of all applications or one. */
export const summariseLanes = async (sql: Queryable, application_id?: string): Promise<LaneSummary> => {
  const readOldest = async (lane: Lane): Promise<Date | null> => {
    const first = { sort: 'since', descending: false, limit: 1, uncounted: true } as const;
    const { rows } = await listLanePage(sql, { lane, application_id }, first);
    return rows[0]?.since ?? null;
  };
  const [counts, oldestNew, oldestChanged] = await Promise.all([
    countLanes(sql, application_id),
    readOldest('new'),
    readOldest('changed'),
  ]);
  return {
    new: { games: counts.new, oldest: oldestNew },
    changed: { games: counts.changed, oldest: oldestChanged },
  };
};

/** Finds a game's place in its lane, among the games of all applications. @returns undefined if it is in no lane */
export const findWaitingPlace = async (
  sql: Queryable,
  game: Pick<GameRow, 'game_id' | 'application_id' | 'audit_status' | 'withdrawn_at' | 'created_at'>,
): Promise<WaitingPlace | undefined> => {
  if (game.audit_status !== 'pending' || game.withdrawn_at !== null) return undefined;
  const { game_id } = game;
  const changedSince = await findChangedSince(sql, game_id);
  const lane: Lane = changedSince === undefined ? 'new' : 'changed';
  const since = changedSince ?? game.created_at;
  const [held, before, counts, median_wait_ms] = await Promise.all([
    listHeldApplications(sql),
    lane === 'new' ? countBeforeInNewLane(sql, game_id) : countBeforeInChangedLane(sql, { game_id, since }),
    countLanes(sql),
    readMedianWaitMs(sql),
  ]);
  const is_held = held.includes(game.application_id);
  return { lane, place: before + 1, games: counts[lane], since, median_wait_ms, is_held };
};
