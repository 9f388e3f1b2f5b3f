import { sql } from 'drizzle-orm';
import {
  type AnyPgColumn,
  bigint,
  bigserial,
  check,
  foreignKey,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';
import { applicationId } from '#db/schema/applications.ts';
import {
  areCounts,
  areInKeys,
  areLists,
  areShort,
  areTimes,
  isOneOf,
  moment,
  tsvector,
} from '#db/schema/columns.ts';
import { reasons } from '#db/schema/review.ts';
import { AUDIT_STATUSES, DECISIONS } from '#src/contract/words.ts';
import { CONTENT, CONTENT_COLUMNS, type ContentColumn, type GameContent } from '#src/rules/mapping.ts';

const textColumn = () => text().notNull();
const listColumn = () => text().array().notNull();
type ContentColumns = {
  [Name in ContentColumn]: ReturnType<
    GameContent[Name] extends string ? typeof textColumn : typeof listColumn
  >;
};
const contentColumns = () =>
  Object.fromEntries(
    CONTENT_COLUMNS.map((name) => [name, CONTENT[name].type === 'text' ? textColumn() : listColumn()]),
  ) as ContentColumns;

/** More than the longest list: 100 addresses of 2,048 characters, of up to four bytes. */
const CONTENT_BYTES = 1_000_000;
type Content = Record<ContentColumn | 'content_hash', AnyPgColumn>;
const longContent = (table: Content) => [table.game_desc, table.game_icon, table.game_store_pic];
const shortContent = (table: Content) => [table.game_store_video, table.content_hash];

/** The catalogue: one row a game, as section 2.3 of the interface document names its fields. */
export const games = pgTable(
  'games',
  {
    /** UUID v7, unique in the platform. */
    game_id: uuid().primaryKey(),
    application_id: applicationId(),
    /** The application's id, unique in the application. */
    application_game_id: text().notNull(),
    ...contentColumns(),
    /** "" until the platform sets it, because the application side does not carry it. */
    game_package_url: text().notNull().default(''),
    audit_status: text({ enum: AUDIT_STATUSES }).notNull().default('pending'),
    /** Null while pending; read as "" (section 3). */
    audit_time: moment('audit_time'),
    /** Content version, from 1. A decision names one. */
    revision: integer().notNull().default(1),
    /** Hash of the mapped content, with the identities of its addresses. */
    content_hash: text().notNull(),
    /** When the first of its addresses ends; null if none has an end. */
    addresses_end_at: moment('addresses_end_at'),
    /** Hash of the list entry. When it changes, the detail is fetched again. */
    list_hash: text().notNull(),
    /** When this detail was requested; an older one never overwrites it. */
    fetched_at: moment('fetched_at').notNull(),
    /** Set when a complete run did not name the game. */
    withdrawn_at: moment('withdrawn_at'),
    /** When a complete listing first did not name the game; null again once a page names it. */
    unlisted_at: moment('unlisted_at'),
    /** What it is found by: lexemes of its name and its ids (src/rules/search-words.ts). */
    search: tsvector().notNull().default(''),
    created_at: moment('created_at').notNull().defaultNow(),
    updated_at: moment('updated_at').notNull().defaultNow(),
  },
  (table) => [
    unique('games_application_game').on(table.application_id, table.application_game_id),
    // Filter, order and columns of game.listByAuditStatus, for an operator and for an application. A page of games lies
    // together in the index, and far apart in the table.
    index('games_pages')
      .on(table.audit_status, table.game_id, table.game_name, table.audit_time)
      .where(sql`${table.withdrawn_at} is null`),
    index('games_pages_application')
      .on(table.application_id, table.audit_status, table.game_id, table.game_name, table.audit_time)
      .where(sql`${table.withdrawn_at} is null`),
    // Rejected and withdrawn games of an application, the latest first, for its developer.
    index('games_rejected')
      .on(table.application_id, table.audit_time, table.game_id)
      .where(sql`${table.audit_status} = 'rejected' and ${table.withdrawn_at} is null`),
    index('games_withdrawn')
      .on(table.application_id, table.withdrawn_at, table.game_id)
      .where(sql`${table.withdrawn_at} is not null`),
    // A search reads all that is not merged into the index yet, so it is merged early.
    index('games_search').using('gin', table.search).with({ gin_pending_list_limit: 512 }),
    isOneOf('games_audit_status_known', table.audit_status, AUDIT_STATUSES),
    areCounts('games_counts', table.revision),
    areInKeys('games_keys', table.application_game_id, table.game_name),
    areShort('games_texts', [table.game_package_url, table.list_hash, ...shortContent(table)]),
    areShort('games_content', longContent(table), CONTENT_BYTES),
    areLists('games_pictures', [table.game_icon, table.game_store_pic]),
    // Ours have at most 26. A later name looks up each former one.
    check('games_words', sql`length(${table.search}) <= 100`),
    areTimes('games_times', table.fetched_at, table.addresses_end_at),
    check('games_audit_time', sql`(${table.audit_status} = 'pending') = (${table.audit_time} is null)`),
  ],
);

/**
 * Every word of letters that a name has, with the keys by which its parts and slips are found. The trigger
 * `games_words` adds it. Two transactions may add the same word, because neither waits for the other.
 */
export const searchWords = pgTable(
  'search_words',
  {
    word: text().notNull(),
    /** The function `search_keys` makes them. */
    keys: text().array().notNull(),
  },
  (table) => [
    index('search_words_word').on(table.word),
    index('search_words_keys').using('gin', table.keys).with({ gin_pending_list_limit: 256 }),
  ],
);

/** Every content version of every game, the current one included. */
export const gameRevisions = pgTable(
  'game_revisions',
  {
    game_id: uuid()
      .notNull()
      .references(() => games.game_id, { onDelete: 'cascade' }),
    revision: integer().notNull(),
    ...contentColumns(),
    content_hash: text().notNull(),
    fetched_at: moment('fetched_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.game_id, table.revision] }),
    areCounts('game_revisions_counts', table.revision),
    areShort('game_revisions_texts', [table.game_name, ...shortContent(table)]),
    areShort('game_revisions_content', longContent(table), CONTENT_BYTES),
    areLists('game_revisions_pictures', [table.game_icon, table.game_store_pic]),
  ],
);

/** Every decision: by whom, when, why, and on which revision. */
export const gameAudits = pgTable(
  'game_audits',
  {
    audit_id: bigserial({ mode: 'number' }).primaryKey(),
    game_id: uuid().notNull(),
    revision: integer().notNull(),
    audit_status: text({ enum: DECISIONS }).notNull(),
    decided_by: text().notNull(),
    /** Null if passed. */
    reason: text().references(() => reasons.code),
    /** What the application's developer reads beside the reason. */
    text: text(),
    /** For operators only. */
    note: text(),
    /** Decisions that were made together. */
    batch_id: uuid(),
    /** The decision on an earlier revision that was carried over, because every picture has the same bytes. */
    carried_over_from: bigint({ mode: 'number' }),
    /** The appeal that this decision overturned. */
    appeal_id: bigint({ mode: 'number' }),
    /** When the game entered the lane. Null for a decision on a game that was not pending. */
    waiting_since: moment('waiting_since'),
    decided_at: moment('decided_at').notNull().defaultNow(),
    /** An undone decision has no effect. */
    undone_at: moment('undone_at'),
    undone_by: text(),
  },
  (table) => [
    index('game_audits_game').on(table.game_id),
    // The figures of reviewers.
    index('game_audits_decided').on(table.decided_at, table.decided_by),
    index('game_audits_batch').on(table.batch_id).where(sql`${table.batch_id} is not null`),
    areShort('game_audits_texts', [table.decided_by, table.text, table.note, table.undone_by]),
    areTimes('game_audits_times', table.waiting_since, table.decided_at, table.undone_at),
    isOneOf('game_audits_status', table.audit_status, DECISIONS),
    areCounts('game_audits_counts', table.audit_id, table.revision, table.carried_over_from, table.appeal_id),
    // No cascade, because a role that may delete revisions must not delete decisions by it.
    foreignKey({
      name: 'game_audits_keep_revision',
      columns: [table.game_id, table.revision],
      foreignColumns: [gameRevisions.game_id, gameRevisions.revision],
    }),
  ],
);
