/** Results of decisions and undos, in words. */
import type { DecidableGame } from '#db/queries/decisions.ts';
import { type DecisionResult, OBSTACLES, type UndoResult } from '#src/rules/judge-decision.ts';

/** `game` is the game after a decision or an undo, with the last decision that stands; null if there is none. */
type Outcome<Result> = {
  game_id: string;
  revision: number;
  result: Result;
  game: DecidableGame | null;
};
export type GameDecision = Outcome<DecisionResult>;
export type GameUndo = Outcome<UndoResult> & { audit_id: number };

/** Explains the result for a game. */
export const explainResult = ({ result, game, revision }: GameDecision | GameUndo): string => {
  switch (result) {
    case 'decided':
    case 'undone':
      return String(game?.audit_status);
    case 'content_moved':
      return `its content is at revision ${game?.revision}, not ${revision}: ${game?.audit_status}`;
    case 'fetching':
      return `a picture of it is still being fetched: ${game?.audit_status}`;
    case 'held':
    case 'needs_verdict':
      return `${OBSTACLES[result]}: ${game?.audit_status}`;
    case 'picture_moved':
      return `a picture has changed behind its address: ${game?.audit_status}`;
    case 'status_moved':
      return `its status has changed meanwhile: ${game?.audit_status}`;
    case 'appealed':
      return 'its rejection is appealed: another reviewer decides the appeal';
    case 'appeal_decided':
      return 'it is the decision of an appeal: decide on the game again instead';
    case 'unchanged':
      return `${game?.audit_status} already, by ${game?.last?.decided_by}`;
    case 'decided_before':
    case 'decided_since':
      return `${game?.audit_status} by ${game?.last?.decided_by} meanwhile`;
    case 'undone_before':
      return `undone already: ${game?.audit_status}`;
    case 'withdrawn':
      return `withdrawn: ${game?.audit_status}`;
    case 'unknown':
      return 'there is no such game';
  }
};

/** The results after which a game is as the operator wants it. */
export const DONE: readonly string[] = ['decided', 'unchanged', 'undone', 'undone_before'];

/** A sentence names at most this many games. */
const NAMED_MAX = 10;

/** Explains why no game is as the operator wanted it; undefined if one is. */
export const explainNothingDone = (games: readonly (GameDecision | GameUndo)[]): string | undefined => {
  if (games.some(({ result }) => DONE.includes(result))) return undefined;
  const named = games.slice(0, NAMED_MAX).map((game) => `${game.game_id}: ${explainResult(game)}`);
  const others = games.length > NAMED_MAX ? ` (and ${games.length - NAMED_MAX} others)` : '';
  return `Nothing was changed. ${named.join('; ')}${others}.`;
};
