/** What became of the games of a decision or an undo. */
import { EXIT, type ExitCode } from '#src/errors.ts';
import type { GameDecision } from '#src/operations/decisions.ts';
import type { GameUndo } from '#src/operations/undo-decisions.ts';
import { OBSTACLES } from '#src/rules/verdicts.ts';

/** The result for a game, in words. */
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

/** The exit code of a command that decided on these games. */
export const exitCodeOf = (games: readonly (GameDecision | GameUndo)[]): ExitCode => {
  const done = games.filter(({ result }) => DONE.includes(result)).length;
  if (done === games.length) return EXIT.done;
  return done === 0 ? EXIT.failed : EXIT.partial;
};
