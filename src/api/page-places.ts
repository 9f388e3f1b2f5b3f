import { LRUCache } from 'lru-cache';
import type { Database } from '#db/client.ts';
import {
  type Counters,
  listOf,
  type PageAsked,
  type Place,
  rowsBefore,
  selectCounters,
} from '#db/queries/api-games.ts';

/** So many rows are stepped over sooner than the place behind them is looked up. */
const STEPPED_OVER = 100;
/** And so many sooner than it is looked up by the database. */
const STEPPED_OVER_MAX = 500;
/** Nodes kept of one list, a kilobyte each: those of ten million games that came in over ten days, and twice as many. */
const LIST_NODES_MAX = 1_000;
/** And of all together. */
const NODES_MAX = 20_000;
const LISTS_MAX = 10_000;
/** How often the counters of a list are read at most: where games come and go all the time they are of little use. */
const READ_EVERY_MS = 1_000;

/** Parts of a node of the counters, and its levels: as in db/schema/game-counts.ts. */
const PARTS = 128;
const LEVELS = 5;
/** How many buckets of 128 milliseconds a part of a node of this level has. */
const partSize = (level: number): number => PARTS ** (LEVELS - 1 - level);
const FIRST = '00000000-0000-0000-0000-000000000000';

/** What is known of the games of a scope and audit_status. */
type List = {
  /** The state they were in when a page of them was last read. */
  state: string;
  counters: Known | null;
  readAt: number;
};
type Known = {
  state: string;
  nodes: ReadonlyMap<number, readonly number[]>;
  /** Are there no other nodes of so many games? */
  complete: boolean;
};

const nodeKey = (level: number, bucket: number): number => bucket * LEVELS + level;

/** The nodes by `nodeKey`, with the changes that wait to be folded into them. */
const nodesOf = ({ nodes, waiting }: Counters): Map<number, number[]> => {
  const found = new Map(nodes.map(({ level, bucket, upto }) => [nodeKey(level, bucket), upto]));
  for (const { bucket, games } of waiting) {
    for (let level = 0; level < LEVELS; level += 1) {
      const part = Math.floor(bucket / partSize(level));
      const upto = found.get(nodeKey(level, Math.floor(part / PARTS)));
      if (upto === undefined) break;
      for (let at = part % PARTS; at < PARTS; at += 1) upto[at] = (upto[at] ?? 0) + games;
    }
  }
  return found;
};

/** The first part of which the games up to its end are more than so many; the last one if none is. */
const partOf = (upto: readonly number[], games: number): number => {
  let [from, to] = [0, PARTS - 1];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((upto[middle] ?? 0) > games) to = middle;
    else from = middle + 1;
  }
  return from;
};

/** Where the row behind so many others is found, as `place_of_game` does; undefined where these counters don't tell. */
const placeIn = ({ nodes, complete }: Known, skip: number): Place | undefined => {
  let [bucket, ahead, games] = [0, skip, Number.POSITIVE_INFINITY];
  let level = 0;
  for (; level < LEVELS && ahead > STEPPED_OVER && games > STEPPED_OVER; level += 1) {
    const upto = nodes.get(nodeKey(level, bucket));
    if (upto === undefined) {
      if (complete || games <= STEPPED_OVER_MAX) break;
      return undefined;
    }
    const part = partOf(upto, ahead);
    const passed = upto[part - 1] ?? 0;
    ahead -= passed;
    games = (upto[part] ?? 0) - passed;
    bucket = bucket * PARTS + part;
  }
  const milliseconds = bucket * PARTS ** (LEVELS - level) * PARTS;
  return { start: milliseconds.toString(16).padStart(12, '0').padEnd(32, '0'), ahead };
};

/**
 * Where pages begin, from what is known of the counters that the database looks it up in: they are read once somebody
 * turned pages while no game came or went.
 * @param most how many nodes are kept, of one list and of all together
 */
export const createPagePlaces = (sql: Database, most = { ofList: LIST_NODES_MAX, ofAll: NODES_MAX }) => {
  const lists = new LRUCache<string, List>({
    max: LISTS_MAX,
    maxSize: most.ofAll,
    sizeCalculation: ({ counters }) => Math.max(counters?.nodes.size ?? 0, 1),
  });

  const readCounters = async (page: PageAsked): Promise<void> => {
    const counters = await selectCounters(sql, page, { gamesOver: STEPPED_OVER, most: most.ofList });
    const known = {
      state: counters.state,
      nodes: nodesOf(counters),
      complete: counters.nodes.length < most.ofList,
    };
    const list = lists.get(listOf(page));
    if (list !== undefined) lists.set(listOf(page), { ...list, counters: known });
  };

  return {
    /**
     * Where a page begins, and if that is so in one state of its games only, in which; undefined for who does not
     * know: the database does.
     */
    placeOf: (page: PageAsked): (Place & { state?: string }) | undefined => {
      const skip = rowsBefore(page);
      if (skip <= STEPPED_OVER) return { start: FIRST, ahead: skip };
      const { state, counters } = lists.get(listOf(page)) ?? {};
      if (!counters || counters.state !== state) return undefined;
      const place = placeIn(counters, skip);
      return place && { ...place, state: counters.state };
    },

    /** Take note of the state that the games were in of a page whose place was not known. */
    note: (page: PageAsked, state: string): void => {
      const list = lists.get(listOf(page)) ?? { state: '', counters: null, readAt: Number.NEGATIVE_INFINITY };
      const now = performance.now();
      const stoodStill = list.state === state;
      const read = stoodStill && list.counters?.state !== state && now - list.readAt > READ_EVERY_MS;
      lists.set(listOf(page), { ...list, state, readAt: read ? now : list.readAt });
      // If it fails, whoever asks next knows as little as this one.
      if (read) readCounters(page).catch(() => {});
    },
  };
};
