import { hash as digest } from 'node:crypto';
import type { ApplicationGameDetail, ApplicationGameSummary } from '#src/contract/application.ts';
import { addressEnd, addressIdentity, type IdentityRule } from '#src/rules/address-identity.ts';

/** What the platform keeps of an application-side detail: the content that an operator decides on. */
export type GameContent = {
  game_name: string;
  game_icon: string[];
  game_desc: string;
  game_store_video: string;
  game_store_pic: string[];
};

/**
 * Map an application-side detail (section 2.5) to the platform side (section 2.3): `game_info` becomes `game_desc`.
 * `game_id`, `game_package_url`, `audit_status` and `audit_time` are the platform's own.
 */
export const toGameContent = (detail: ApplicationGameDetail): GameContent => ({
  game_name: detail.game_name,
  game_icon: detail.game_icon,
  game_desc: detail.game_info,
  game_store_video: detail.game_store_video,
  game_store_pic: detail.game_store_pic,
});

/** Bytes of the content as Postgres stores it, before compression. */
export const contentBytes = (content: GameContent): number => {
  const { game_name, game_desc, game_store_video, game_icon, game_store_pic } = content;
  const texts = [game_name, game_desc, game_store_video, ...game_icon, ...game_store_pic];
  return texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0);
};

const hash = (value: unknown): string => digest('sha256', JSON.stringify(value), 'base64url');

const addressesOf = ({ game_icon, game_store_video, game_store_pic }: GameContent): string[] => [
  ...game_icon,
  game_store_video,
  ...game_store_pic,
];

/** When the first of a content's addresses ends; null if none tells its end. */
export const addressesEndAt = (content: GameContent): Date | null =>
  addressesOf(content)
    .map(addressEnd)
    .reduce<Date | null>(
      (first, end) => (end !== undefined && (first === null || end < first) ? end : first),
      null,
    );

/**
 * Equal for equal content: a fetched detail with the stored hash changes nothing. Addresses count by their identities.
 * A hash of content with a query in an address ends with the tag of the rule: hashes under different rules differ, although
 * the content may be the same.
 */
export const contentHash = (content: GameContent, rule: IdentityRule): string => {
  const identity = (address: string) => addressIdentity(address, rule);
  const hashed = hash([
    content.game_name,
    content.game_icon.map(identity),
    content.game_desc,
    identity(content.game_store_video),
    content.game_store_pic.map(identity),
  ]);
  return addressesOf(content).some((address) => address.includes('?')) ? `${hashed}.${rule.tag}` : hashed;
};

/** Characters of a list hash: 132 bits. */
const LIST_HASH_LENGTH = 22;

/** Equal for equal list entries (section 2.4): a listed game with the stored hash needs no new detail. */
export const listHash = (summary: ApplicationGameSummary, rule: IdentityRule): string =>
  hash([summary.game_name, addressIdentity(summary.game_icon, rule)]).slice(0, LIST_HASH_LENGTH);
