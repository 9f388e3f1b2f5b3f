import type { Queryable } from '#db/client.ts';
import { readIdentityRules } from '#db/queries/addresses.ts';
import { findDecidedRevision, findRevision, type GameRow } from '#db/queries/games.ts';
import { UsageError } from '#src/errors.ts';
import { addressIdentity, type IdentityRule } from '#src/rules/address-identity.ts';
import { diffContent, type FieldDiff } from '#src/rules/diff.ts';
import type { GameContent } from '#src/rules/mapping.ts';

/** `from` is null if no revision before `to` was decided: then `to` is compared with nothing. */
export type GameDiff = { game: GameRow; from: number | null; to: number; fields: FieldDiff[] };

/** Are there two revisions, whose differences are marked? */
export const isCompared = ({ from, to }: GameDiff): boolean => from !== null && from !== to;

/** Replaces addresses of a content by those of a later one that have the same identity. */
const withAddressesOf = (later: GameContent, content: GameContent, rule: IdentityRule): GameContent => {
  const addresses = [...later.game_icon, ...later.game_store_pic, later.game_store_video];
  const byIdentity = new Map(addresses.map((address) => [addressIdentity(address, rule), address]));
  const toLater = (address: string): string => byIdentity.get(addressIdentity(address, rule)) ?? address;
  return {
    ...content,
    game_icon: content.game_icon.map(toLater),
    game_store_pic: content.game_store_pic.map(toLater),
    game_store_video: toLater(content.game_store_video),
  };
};

/**
 * Compares two revisions of a game. Addresses of the same identity are the same.
 * @param to by default the current revision
 * @param from by default the last decided revision before `to`
 * @throws UsageError when there is no such revision
 */
export const compareRevisions = async (
  sql: Queryable,
  game: GameRow,
  range: { from?: number | undefined; to?: number | undefined } = {},
): Promise<GameDiff> => {
  const { game_id } = game;
  const to = range.to ?? game.revision;
  const from = range.from ?? (await findDecidedRevision(sql, game_id, to)) ?? null;
  // The row of the game has the present addresses; that of its revision has those of the time when it was stored.
  const read = (revision: number): Promise<GameContent | undefined> =>
    revision === game.revision ? Promise.resolve(game) : findRevision(sql, game_id, revision);
  const [before, after, ruleOf] = await Promise.all([
    from === null ? null : read(from),
    read(to),
    readIdentityRules(sql, [game]),
  ]);
  if (before === undefined || after === undefined)
    throw new UsageError(
      `${game_id} has no revision ${after === undefined ? to : from}: its revisions are 1 to ${game.revision}.`,
    );
  const earlier = before && withAddressesOf(after, before, ruleOf(game.application_id));
  return { game, from, to, fields: diffContent(earlier, after) };
};
