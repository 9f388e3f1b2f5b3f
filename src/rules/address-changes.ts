import { compareAddresses, type IdentityRule } from '#src/rules/address-identity.ts';
import type { GameContent } from '#src/rules/mapping.ts';

/** What the note of a run says of its changed games. */
export const ADDRESSES_ALONE = 'changed in their addresses alone';

/** The addresses of one field, before and after. */
type AddressPair = readonly [before: string, after: string];

const pairsOf = (before: GameContent, after: GameContent): AddressPair[] | undefined => {
  const lists = (['game_icon', 'game_store_pic'] as const).map(
    (field) => [before[field], after[field]] as const,
  );
  if (lists.some(([had, has]) => had.length !== has.length)) return undefined;
  const pairs = lists.flatMap(([had, has]) =>
    had.map((address, index): AddressPair => [address, has[index] ?? '']),
  );
  return [...pairs, [before.game_store_video, after.game_store_video]];
};

/**
 * The parameters in which the addresses of two contents differ, if nothing but addresses does; none if an address differs
 * elsewhere too, such as in its path.
 * @returns undefined if something else differs, or the contents are the same
 */
export const movedParameters = (
  before: GameContent,
  after: GameContent,
  rule: IdentityRule,
): string[] | undefined => {
  const pairs = pairsOf(before, after);
  // An address that appears or goes is no other address.
  if (pairs === undefined || pairs.some(([had, has]) => (had === '') !== (has === ''))) return undefined;
  if (before.game_name !== after.game_name || before.game_desc !== after.game_desc) return undefined;
  const differences = pairs.map(([had, has]) => compareAddresses(had, has, rule));
  if (differences.some(({ kind }) => kind === 'other')) return [];
  const names = differences.flatMap((difference) =>
    difference.kind === 'parameters' ? difference.names : [],
  );
  return names.length === 0 ? undefined : [...new Set(names)];
};

/** An operator copies the proposal to a shell, so the proposal has names of plain characters only, and none that is an option. */
const PLAIN = /^\w[\w.-]{0,63}$/;
const NAMES_MAX = 5;

/**
 * Proposes to leave parameters out of the identities of an application's addresses.
 * @param former what is left out already
 * @returns null if the names are too many, or are none that are fit for a command
 */
export const proposeVolatile = (
  application_id: string,
  former: readonly string[],
  names: readonly string[],
): string | null => {
  const all = [...new Set([...former, ...names])].toSorted();
  if (names.length > NAMES_MAX || !all.every((name) => PLAIN.test(name))) return null;
  return `npx catalogue app update ${application_id} --volatile-parameter ${all.join(' ')}`;
};
