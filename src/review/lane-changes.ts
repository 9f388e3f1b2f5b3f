/** What changed in the games of the changed lane since they were decided. */
import type { Queryable } from '#db/client.ts';
import { readIdentityRules } from '#db/queries/addresses.ts';
import { type DecidedGame, listLaneContents } from '#db/queries/lane-contents.ts';
import { addressIdentity } from '#src/rules/address-identity.ts';

/** Compares the identities of addresses, because a new signature alone changes no picture. */
const isSame = (
  before: readonly string[],
  after: readonly string[],
  identify: (url: string) => string,
): boolean =>
  before.length === after.length && before.every((url, n) => identify(url) === identify(after[n] ?? ''));

/** Names the changed fields of each game. If no field differs: `picture replaced`, or `nothing` if none was. */
export const describeChanges = async (
  sql: Queryable,
  games: readonly DecidedGame[],
): Promise<Map<string, string[]>> => {
  const contents = await listLaneContents(sql, games);
  const ruleOf = await readIdentityRules(sql, contents);
  return new Map(
    contents.map((content) => {
      const identify = (url: string): string => addressIdentity(url, ruleOf(content.application_id));
      const { before, after } = content;
      const changes = [
        content.name && 'name',
        !isSame(before.game_icon, after.game_icon, identify) && 'icon',
        !isSame(before.game_store_pic, after.game_store_pic, identify) && 'pictures',
        content.description && 'description',
        !isSame([before.game_store_video], [after.game_store_video], identify) && 'video',
      ].filter((each) => each !== false);
      return [
        content.game_id,
        changes.length === 0 ? [content.replaced ? 'picture replaced' : 'nothing'] : changes,
      ];
    }),
  );
};
