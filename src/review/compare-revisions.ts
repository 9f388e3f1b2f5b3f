import type { Queryable } from '#db/client.ts';
import { findDecidedRevision, findGame, findRevision, type GameRow } from '#db/queries/games.ts';
import { NotFoundError, UsageError } from '#src/errors.ts';
import { diffContent, type FieldDiff } from '#src/rules/diff.ts';

/** `from` is null if no revision before `to` was decided: then `to` is compared with nothing. */
export type GameDiff = { game: GameRow; from: number | null; to: number; fields: FieldDiff[] };

/**
 * Compares two revisions of a game.
 * @param to by default the current revision
 * @param from by default the last decided revision before `to`
 * @throws NotFoundError when there is no such game, UsageError when there is no such revision
 */
export const compareRevisions = async (
  sql: Queryable,
  game_id: string,
  range: { from?: number | undefined; to?: number | undefined } = {},
): Promise<GameDiff> => {
  const game = await findGame(sql, game_id);
  if (game === undefined) throw new NotFoundError('game', game_id);
  const to = range.to ?? game.revision;
  const from = range.from ?? (await findDecidedRevision(sql, game_id, to)) ?? null;
  const [before, after] = await Promise.all([
    from === null ? null : findRevision(sql, game_id, from),
    findRevision(sql, game_id, to),
  ]);
  if (before === undefined || after === undefined)
    throw new UsageError(
      `${game_id} has no revision ${after === undefined ? to : from}: its revisions are 1 to ${game.revision}.`,
    );
  return { game, from, to, fields: diffContent(before, after) };
};
