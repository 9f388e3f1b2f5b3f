import { HOUR_MS, MINUTE_MS } from '#src/lib/duration.ts';
import { addressIdentity, type IdentityRule } from '#src/rules/address-identity.ts';
import { CONTENT_COLUMNS, type GameContent } from '#src/rules/mapping.ts';

/** Longest time between two looks at a game. */
export const CARRY_AGAIN_MAX_MS = 6 * HOUR_MS;
/** Games are looked at again for this long, because a file may be moved after its address changed. */
const WAIT_MAX_MS = 7 * 24 * HOUR_MS;

/**
 * May a decision on a content stand for a later one, once every picture turns out to have the same bytes? Only if nothing but
 * addresses of icons and pictures differs. Other videos and texts are always reviewed.
 */
export const mayCarryOver = (decided: GameContent, now: GameContent, rule: IdentityRule): boolean =>
  CONTENT_COLUMNS.every((column) => {
    switch (column) {
      case 'game_icon':
      case 'game_store_pic':
        return decided[column].length === now[column].length;
      case 'game_store_video':
        return addressIdentity(decided[column], rule) === addressIdentity(now[column], rule);
      default:
        return decided[column] === now[column];
    }
  });

/**
 * Returns when pictures that could not be fetched are looked at again; undefined if never.
 * @param waitedMs the time since the game entered the lane
 */
export const nextCarryMs = (waitedMs: number): number | undefined =>
  waitedMs > WAIT_MAX_MS ? undefined : Math.min(Math.max(waitedMs / 2, MINUTE_MS), CARRY_AGAIN_MAX_MS);
