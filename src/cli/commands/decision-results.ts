import { EXIT, type ExitCode } from '#src/errors.ts';
import { DONE, type GameDecision, type GameUndo } from '#src/operations/decision-results.ts';

/** The exit code of a command that decided on these games. */
export const exitCodeOf = (games: readonly (GameDecision | GameUndo)[]): ExitCode => {
  const done = games.filter(({ result }) => DONE.includes(result)).length;
  if (done === games.length) return EXIT.done;
  return done === 0 ? EXIT.failed : EXIT.partial;
};
