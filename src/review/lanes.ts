/** The lanes of games that wait for a decision, for the console, the portal and the command line. */

import type { Queryable } from '#db/client.ts';
import type { GameRow } from '#db/queries/games.ts';
import { countBeforeInLane, countLanes, readDueTime, readMedianWaitMs } from '#db/queries/lane-counts.ts';
import { listLanePage } from '#db/queries/lanes.ts';
import type { Lane } from '#src/contract/words.ts';
import type { WaitingPlace } from '#src/rules/answer.ts';

/** How many games each lane has, and when the first one is due; null if the lane is empty. */
export type LaneSummary = Record<Lane, { games: number; due: Date | null }>;

/** Summarises both lanes, of all applications or one. */
export const summariseLanes = async (sql: Queryable, application_id?: string): Promise<LaneSummary> => {
  const readFirstDue = async (lane: Lane): Promise<Date | null> => {
    const first = { sort: 'due', descending: false, limit: 1, uncounted: true } as const;
    const { rows } = await listLanePage(sql, { lane, application_id }, first);
    return rows[0]?.due ?? null;
  };
  const [counts, dueNew, dueChanged] = await Promise.all([
    countLanes(sql, application_id),
    readFirstDue('new'),
    readFirstDue('changed'),
  ]);
  return {
    new: { games: counts.new, due: dueNew },
    changed: { games: counts.changed, due: dueChanged },
  };
};

/** The columns by which a game is in a lane. */
type InLane = Pick<GameRow, 'game_id' | 'audit_status' | 'withdrawn_at' | 'created_at'>;

/** Finds the lane of a game, and when it is due. @returns undefined if it is in no lane */
export const findLane = async (
  sql: Queryable,
  { game_id, audit_status, withdrawn_at, created_at }: InLane,
): Promise<Pick<WaitingPlace, 'lane' | 'since' | 'due' | 'is_held'> | undefined> => {
  if (audit_status !== 'pending' || withdrawn_at !== null) return undefined;
  const { changed_since, due, is_held } = await readDueTime(sql, game_id);
  return {
    lane: changed_since === null ? 'new' : 'changed',
    since: changed_since ?? created_at,
    due,
    is_held,
  };
};

/**
 * Finds a game's place in its lane.
 * @param application_id the lane is filtered by it; absent: the games of all applications
 * @returns undefined if it is in no lane
 */
export const findWaitingPlace = async (
  sql: Queryable,
  game: InLane,
  application_id?: string,
): Promise<WaitingPlace | undefined> => {
  const found = await findLane(sql, game);
  if (found === undefined) return undefined;
  const { lane, due } = found;
  const [before, counts, median_wait_ms] = await Promise.all([
    countBeforeInLane(sql, lane, { game_id: game.game_id, due }, application_id),
    countLanes(sql, application_id),
    readMedianWaitMs(sql),
  ]);
  return { ...found, place: before + 1, games: counts[lane], median_wait_ms };
};
