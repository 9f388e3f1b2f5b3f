import type { DecidableGame } from '#db/queries/decisions.ts';
import type { GameAuditRow } from '#db/queries/games.ts';
import type { AuditStatus, Decision } from '#src/contract/words.ts';

/** A game and the revision that a reviewer saw. */
export type SeenRevision = {
  game_id: string;
  revision: number;
  /** SHA-256 in hex of the pictures that were on the screen, by picture; absent if the caller shows none. */
  seen_pictures?: ReadonlyMap<string, string>;
};

/**
 * The result for one game of a decision. Only `decided` wrote something.
 *
 * - `moved`: its content is at another revision than the reviewer saw, or a picture has other bytes.
 * - `decided_before`: another decision has taken it out of the status that the reviewer saw.
 * - `fetching`: a picture is still being fetched, or stored: it cannot be passed yet.
 * - `unchanged`: it has this decision already.
 * - `withdrawn`: its application no longer lists it. It waits again when a listing names it.
 * - `unknown`: there is no such game.
 */
export type DecisionResult =
  | 'decided'
  | 'moved'
  | 'fetching'
  | 'decided_before'
  | 'unchanged'
  | 'withdrawn'
  | 'unknown';

/** The decision that is to be made, as far as the verdict depends on it. */
export type WantedDecision = {
  audit_status: Decision;
  reason: string | null;
  text: string | null;
  /** The status that the reviewer saw; absent: any. */
  seen_status?: AuditStatus | undefined;
};

/** May this decision be made on this game now? */
export const judgeDecision = (
  seen: SeenRevision,
  game: DecidableGame | undefined,
  wanted: WantedDecision,
): DecisionResult => {
  if (game === undefined) return 'unknown';
  if (game.withdrawn_at !== null) return 'withdrawn';
  if (game.revision !== seen.revision) return 'moved';
  if (wanted.seen_status !== undefined && game.audit_status !== wanted.seen_status) return 'decided_before';
  const { last } = game;
  const isSame =
    game.audit_status === wanted.audit_status &&
    last?.revision === game.revision &&
    last.reason === wanted.reason &&
    last.text === wanted.text;
  return isSame ? 'unchanged' : 'decided';
};

/**
 * The result for one decision that is to be undone. Only `undone` wrote something.
 *
 * - `moved`: the content or the status of the game has changed since.
 * - `decided_since`: a later decision stands on the game.
 * - `undone_before`: it was undone already.
 */
export type UndoResult = 'undone' | 'moved' | 'decided_since' | 'undone_before';

/** May this decision be undone now? */
export const judgeUndo = (
  decision: Pick<GameAuditRow, 'audit_id' | 'audit_status' | 'revision' | 'undone_at'>,
  game: DecidableGame | undefined,
): UndoResult => {
  if (decision.undone_at !== null) return 'undone_before';
  if (game?.revision !== decision.revision) return 'moved';
  if (game.last?.audit_id !== decision.audit_id) return 'decided_since';
  return game.audit_status === decision.audit_status ? 'undone' : 'moved';
};
