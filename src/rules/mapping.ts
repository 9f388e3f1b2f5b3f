import { hash as digest } from 'node:crypto';
import type { ApplicationGameDetail, ApplicationGameSummary } from '#src/contract/application.ts';
import { addressEnd, addressIdentity, type IdentityRule } from '#src/rules/address-identity.ts';

type FieldOf<Value> = {
  [Field in keyof ApplicationGameDetail]: ApplicationGameDetail[Field] extends Value ? Field : never;
}[keyof ApplicationGameDetail];
/** `isAddress`: its values are addresses, which are hashed by their identities. */
type Column = { title: string; isAddress?: true } & (
  | { type: 'text'; from: FieldOf<string> }
  | { type: 'text[]'; from: FieldOf<string[]> }
);

/**
 * The content of a game, which an operator decides on: the columns of `games` and `game_revisions`, each with the field
 * of an application-side detail (section 2.5) that it is `from`. Content is shown and hashed in this order. `game_id`,
 * `game_package_url`, `audit_status` and `audit_time` are the platform's own.
 */
export const CONTENT = {
  game_name: { type: 'text', from: 'game_name', title: 'Name' },
  game_icon: { type: 'text[]', from: 'game_icon', title: 'Icons', isAddress: true },
  game_desc: { type: 'text', from: 'game_info', title: 'Description' },
  game_store_pic: { type: 'text[]', from: 'game_store_pic', title: 'Pictures', isAddress: true },
  game_store_video: { type: 'text', from: 'game_store_video', title: 'Video', isAddress: true },
} as const satisfies Record<string, Column>;

export type ContentColumn = keyof typeof CONTENT;
export const CONTENT_COLUMNS = Object.keys(CONTENT) as ContentColumn[];
export type GameContent = {
  -readonly [Name in ContentColumn]: (typeof CONTENT)[Name]['type'] extends 'text' ? string : string[];
};

/** Maps an application-side detail to the platform side (section 2.3). */
export const toGameContent = (detail: ApplicationGameDetail): GameContent =>
  Object.fromEntries(CONTENT_COLUMNS.map((column) => [column, detail[CONTENT[column].from]])) as GameContent;

const valuesOf = (content: GameContent): (string | string[])[] =>
  CONTENT_COLUMNS.map((column) => content[column]);

/** Counts the bytes of the content as Postgres stores it, before compression. */
export const contentBytes = (content: GameContent): number => {
  let bytes = 0;
  for (const value of valuesOf(content))
    for (const text of typeof value === 'string' ? [value] : value) bytes += Buffer.byteLength(text);
  return bytes;
};

const hash = (value: unknown): string => digest('sha256', JSON.stringify(value), 'base64url');

const ADDRESS_COLUMNS = CONTENT_COLUMNS.filter((column) => 'isAddress' in CONTENT[column]);

const addressesOf = (content: GameContent): string[] => ADDRESS_COLUMNS.flatMap((column) => content[column]);

/** Only an address with a query can be signed or timed. */
const hasQuery = (address: string): boolean => address.includes('?');

/** Finds the end of the first of a content's addresses that ends; null if none does. */
export const addressesEndAt = (content: GameContent): Date | null =>
  addressesOf(content)
    .filter(hasQuery)
    .map(addressEnd)
    .reduce<Date | null>(
      (first, end) => (end !== undefined && (first === null || end < first) ? end : first),
      null,
    );

/**
 * Hashes a content. A fetched detail with the stored hash changes nothing. Addresses count by their identities. A hash of
 * content with a query in an address ends with the tag of the rule, so that hashes under different rules differ, although
 * the content may be the same.
 */
export const contentHash = (content: GameContent, rule: IdentityRule): string => {
  if (!addressesOf(content).some(hasQuery)) return hash(valuesOf(content));
  const identity = (address: string) => addressIdentity(address, rule);
  const identify = (value: string | string[]) =>
    typeof value === 'string' ? identity(value) : value.map(identity);
  const identified = Object.fromEntries(ADDRESS_COLUMNS.map((column) => [column, identify(content[column])]));
  return `${hash(valuesOf({ ...content, ...identified }))}.${rule.tag}`;
};

/** Characters of a list hash: 132 bits. */
const LIST_HASH_LENGTH = 22;

/** Hashes a list entry (section 2.4). A listed game with the stored hash needs no new detail. */
export const listHash = (summary: ApplicationGameSummary, rule: IdentityRule): string =>
  hash([summary.game_name, addressIdentity(summary.game_icon, rule)]).slice(0, LIST_HASH_LENGTH);
