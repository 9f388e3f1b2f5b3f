/**
 * The review room, for the console, the portal and the command line. Games wait for a decision in one of two lanes (this
 * file); `timeline.ts` lists what happened to a game.
 */
import type { Queryable } from '#db/client.ts';
import type { GameRow } from '#db/queries/games.ts';
import {
  countBeforeInChangedLane,
  countBeforeInNewLane,
  countLanes,
  findChangedSince,
  type LaneFilter,
  type LanePlace,
  type LaneRow,
  listChangedLane,
  listNewLane,
  readMedianWaitMs,
} from '#db/queries/lanes.ts';
import type { Lane } from '#src/contract/words.ts';
import { UsageError } from '#src/errors.ts';
import type { WaitingPlace } from '#src/rules/answer.ts';

/** A game in a lane. The page after its `cursor` begins with the next game, even if this one has been decided. */
export type LaneGame = LaneRow & { cursor: string };
/**
 * `next` is the cursor of the next page; null at the end. With a search text, a page may have fewer games than `limit`,
 * or none, before the end.
 */
export type LanePage = { games: LaneGame[]; next: string | null };

const LANE_PAGE_MAX = 500;

/** @returns the cursor of a place: `readLane` continues with the game after it */
export const toCursor = ({ game_id, since }: LanePlace): string => `${since.getTime()}_${game_id}`;

/** Thirteen digits of milliseconds reach the year 2286. */
export const LANE_CURSOR = /^(\d{1,13})_([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/;

const parseCursor = (cursor: string | undefined): LanePlace | undefined => {
  if (cursor === undefined) return undefined;
  const [, ms, game_id] = LANE_CURSOR.exec(cursor) ?? [];
  if (game_id === undefined)
    throw new UsageError('This is not the cursor of a lane: begin without a cursor.');
  return { game_id, since: new Date(Number(ms)) };
};

/**
 * Reads one page of a lane, in the order in which games entered it.
 * @param page.limit at most 500 games; a higher limit counts as 500
 * @throws UsageError if the cursor has not the form of one
 */
export const readLane = async (
  sql: Queryable,
  lane: Lane,
  { cursor, limit, ...filter }: LaneFilter & { cursor?: string | undefined; limit: number },
): Promise<LanePage> => {
  const list = lane === 'new' ? listNewLane : listChangedLane;
  const { rows, last } = await list(sql, filter, parseCursor(cursor), Math.min(limit, LANE_PAGE_MAX));
  return {
    games: rows.map((row) => ({ ...row, cursor: toCursor(row) })),
    next: last === undefined ? null : toCursor(last),
  };
};

/** How many games each lane has, and since when the first one waits; null if the lane is empty. */
export type LaneSummary = Record<Lane, { games: number; oldest: Date | null }>;

/** Summarises both lanes, of all applications or one. */
export const summariseLanes = async (sql: Queryable, application_id?: string): Promise<LaneSummary> => {
  const readOldest = async (lane: Lane): Promise<Date | null> => {
    const { games } = await readLane(sql, lane, { application_id, limit: 1 });
    return games[0]?.since ?? null;
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
  game: Pick<GameRow, 'game_id' | 'audit_status' | 'withdrawn_at' | 'created_at'>,
): Promise<WaitingPlace | undefined> => {
  if (game.audit_status !== 'pending' || game.withdrawn_at !== null) return undefined;
  const { game_id } = game;
  const changedSince = await findChangedSince(sql, game_id);
  const lane: Lane = changedSince === undefined ? 'new' : 'changed';
  const since = changedSince ?? game.created_at;
  const [before, counts, median_wait_ms] = await Promise.all([
    lane === 'new' ? countBeforeInNewLane(sql, game_id) : countBeforeInChangedLane(sql, { game_id, since }),
    countLanes(sql),
    readMedianWaitMs(sql),
  ]);
  return { lane, place: before + 1, games: counts[lane], since, median_wait_ms };
};
