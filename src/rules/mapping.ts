import { hash as digest } from 'node:crypto';
import type { ApplicationGameDetail, ApplicationGameSummary } from '#src/contract/application.ts';

type FieldOf<Value> = {
  [Field in keyof ApplicationGameDetail]: ApplicationGameDetail[Field] extends Value ? Field : never;
}[keyof ApplicationGameDetail];
type Column = { title: string } & (
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
  game_icon: { type: 'text[]', from: 'game_icon', title: 'Icons' },
  game_desc: { type: 'text', from: 'game_info', title: 'Description' },
  game_store_pic: { type: 'text[]', from: 'game_store_pic', title: 'Pictures' },
  game_store_video: { type: 'text', from: 'game_store_video', title: 'Video' },
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

/** Bytes of the content as Postgres stores it, before compression. */
export const contentBytes = (content: GameContent): number => {
  let bytes = 0;
  for (const value of valuesOf(content))
    for (const text of typeof value === 'string' ? [value] : value) bytes += Buffer.byteLength(text);
  return bytes;
};

const hash = (value: unknown): string => digest('sha256', JSON.stringify(value), 'base64url');

/** Equal for equal content: a fetched detail with the stored hash changes nothing. */
export const contentHash = (content: GameContent): string => hash(valuesOf(content));

/** Characters of a list hash: 132 bits. */
const LIST_HASH_LENGTH = 22;

/** Equal for equal list entries (section 2.4): a listed game with the stored hash needs no new detail. */
export const listHash = (summary: ApplicationGameSummary): string =>
  hash([summary.game_name, summary.game_icon]).slice(0, LIST_HASH_LENGTH);
