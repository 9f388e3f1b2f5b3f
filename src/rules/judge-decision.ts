/** May a decision be made, or undone, on a game as it is now? */
import type { AuditStatus, Decision, PassObstacle } from '#src/contract/words.ts';

/** A game as a decision finds it, with its last decision that was not undone. */
type FoundGame = {
  revision: number;
  audit_status: AuditStatus;
  withdrawn_at: Date | null;
  /** Why no game of its application can be passed now. */
  obstacle: PassObstacle | null;
  /** Is an appeal against its rejection open? */
  is_appealed: boolean;
  last: { audit_id: number; revision: number; reason: string | null; text: string | null } | null;
};

/**
 * The result for one game of a decision. Only `decided` wrote something.
 *
 * - `content_moved`: its content is at another revision than the reviewer saw.
 * - `picture_moved`: a picture has other bytes than the reviewer saw.
 * - `decided_before`: another decision has taken it out of the status that the reviewer saw.
 * - `fetching`: a picture is still being fetched, or stored, so the game cannot be passed yet.
 * - `held`: an operator holds its application, so it cannot be passed.
 * - `needs_verdict`: its developer has no standing verdict, and GAMES_NEED_VERDICT is on, so it cannot be passed.
 * - `appealed`: its rejection is appealed, and only the appeal decides on it.
 * - `unchanged`: it has this decision already.
 * - `withdrawn`: its application no longer lists it. It waits again when a listing names it.
 * - `unknown`: there is no such game.
 */
export const DECISION_RESULTS = [
  'decided',
  'content_moved',
  'picture_moved',
  'fetching',
  'held',
  'needs_verdict',
  'decided_before',
  'appealed',
  'unchanged',
  'withdrawn',
  'unknown',
] as const;
export type DecisionResult = (typeof DECISION_RESULTS)[number];

/** Why no game of an application can be passed, as the end of a sentence. */
export const OBSTACLES: Readonly<Record<PassObstacle, string>> = {
  held: 'an operator holds its application, so it cannot be passed',
  needs_verdict:
    'its developer has no standing verdict, and GAMES_NEED_VERDICT is on, so it cannot be passed',
};

/** The part of a decision that its result depends on. */
export type WantedDecision = {
  audit_status: Decision;
  reason: string | null;
  text: string | null;
  /** The status that the reviewer saw; absent: any. */
  seen_status?: AuditStatus | undefined;
};

/**
 * May this decision be made on this game now?
 * @param seen the revision that the reviewer saw; whether a picture has other bytes since, or is still being fetched
 */
export const judgeDecision = (
  seen: { revision: number; hasPictureMoved: boolean; isFetching: boolean },
  game: FoundGame | undefined,
  wanted: WantedDecision,
): DecisionResult => {
  if (game === undefined) return 'unknown';
  if (game.withdrawn_at !== null) return 'withdrawn';
  if (game.revision !== seen.revision) return 'content_moved';
  if (wanted.seen_status !== undefined && game.audit_status !== wanted.seen_status) return 'decided_before';
  const { last } = game;
  const isSame =
    game.audit_status === wanted.audit_status &&
    last?.revision === game.revision &&
    last.reason === wanted.reason &&
    last.text === wanted.text;
  if (isSame) return 'unchanged';
  if (game.is_appealed) return 'appealed';
  if (wanted.audit_status === 'passed' && game.obstacle !== null) return game.obstacle;
  if (seen.hasPictureMoved) return 'picture_moved';
  return seen.isFetching && wanted.audit_status === 'passed' ? 'fetching' : 'decided';
};

/**
 * The result for one decision that is to be undone. Only `undone` wrote something.
 *
 * - `content_moved`: the content of the game has changed since.
 * - `status_moved`: its status has changed since.
 * - `decided_since`: a later decision stands on the game.
 * - `appealed`: it is a rejection that is appealed.
 * - `appeal_decided`: it is the decision of an appeal.
 * - `undone_before`: it was undone already.
 */
export const UNDO_RESULTS = [
  'undone',
  'content_moved',
  'status_moved',
  'decided_since',
  'appealed',
  'appeal_decided',
  'undone_before',
] as const;
export type UndoResult = (typeof UNDO_RESULTS)[number];

/** May this decision be undone now? */
export const judgeUndo = (
  decision: {
    audit_id: number;
    audit_status: Decision;
    revision: number;
    appeal_id: number | null;
    undone_at: Date | null;
  },
  game: FoundGame | undefined,
): UndoResult => {
  if (decision.undone_at !== null) return 'undone_before';
  if (game?.revision !== decision.revision) return 'content_moved';
  if (game.last?.audit_id !== decision.audit_id) return 'decided_since';
  if (decision.appeal_id !== null) return 'appeal_decided';
  if (game.is_appealed) return 'appealed';
  return game.audit_status === decision.audit_status ? 'undone' : 'status_moved';
};
