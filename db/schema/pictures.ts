import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  pgTable,
  primaryKey,
  smallint,
  text,
  uuid,
} from 'drizzle-orm/pg-core';
import { areCounts, areLists, areNumbers, areShort, bytea, isOneOf, moment } from '#db/schema/columns.ts';
import { gameAudits } from '#db/schema/games.ts';
import { CONTENT_OUTCOMES, PICTURE_OUTCOMES, STORE_AREAS } from '#src/contract/pictures.ts';
import { URLS_MAX } from '#src/contract/text.ts';
import { IMAGE_FORMATS } from '#src/rules/pictures.ts';

// Pictures of games. These tables have no foreign keys to `games` or to each other, because nothing that the ingest writes
// knows of pictures, and `prune` deletes content while addresses stay. Only a pin has one, to its decision.

/**
 * One row for each identity of an address of an application. `sha256` columns of these tables have 32 bytes, except: one
 * byte if the server sent more than PICTURE_MAX_BYTES, and none in `picture_pins` if the game was decided without bytes.
 */
export const pictures = pgTable(
  'pictures',
  {
    /** `pictureId` of src/rules/pictures.ts. */
    picture_id: uuid().primaryKey(),
    /** The address of the last request. */
    url: text().notNull(),
    /** The hash of the last bytes; a failure keeps it. Null before the first bytes. */
    sha256: bytea(),
    /** The outcome of the last request; null before the first one has ended. */
    outcome: text({ enum: PICTURE_OUTCOMES }),
    http_status: smallint(),
    /** What else a reviewer should know, such as a Content-Type that lies. */
    note: text(),
    etag: text(),
    /** When the last request ended. */
    fetched_at: moment('fetched_at'),
    /** A look before this time causes no request. Also the lease of a request that runs. */
    fresh_until: moment('fresh_until'),
    /** When a picture of a decided game is requested again. */
    next_check_at: moment('next_check_at'),
  },
  (table) => [
    index('pictures_due').on(table.next_check_at).where(sql`${table.next_check_at} is not null`),
    isOneOf('pictures_outcome', table.outcome, PICTURE_OUTCOMES),
    areCounts('pictures_counts', table.http_status),
    areShort('pictures_texts', [table.url, table.note, table.etag, table.sha256]),
  ],
);

/** One row for each content, by the hash of its bytes. */
export const pictureContents = pgTable(
  'picture_contents',
  {
    sha256: bytea().primaryKey(),
    outcome: text({ enum: CONTENT_OUTCOMES }).notNull(),
    bytes: integer().notNull(),
    format: text(),
    width: integer(),
    height: integer(),
    frames: integer(),
    /** Difference hash of 64 bits. */
    dhash: bigint({ mode: 'bigint' }),
    /** Does it have all its thumbnails? `prune` removes all but the one of 64 pixels. */
    whole: boolean().notNull().default(true),
    /** Does a decision name it? Then `prune` keeps it. */
    pinned: boolean().notNull().default(false),
    /** Where the store of pictures has the bytes. */
    stored: text({ enum: STORE_AREAS }),
    /** When it was last shown, to the day. */
    looked_at: moment('looked_at').notNull().defaultNow(),
  },
  (table) => [
    isOneOf('picture_contents_outcome', table.outcome, CONTENT_OUTCOMES),
    areShort('picture_contents_texts', [table.sha256]),
    isOneOf('picture_contents_stored', table.stored, STORE_AREAS),
    isOneOf('picture_contents_format', table.format, [...IMAGE_FORMATS, 'svg']),
    // The API makes addresses of these.
    check(
      'picture_contents_named',
      sql`${table.stored} is null or (coalesce(${table.format}, 'svg') <> 'svg' and octet_length(${table.sha256}) = 32)`,
    ),
    areCounts('picture_contents_counts', table.bytes, table.width, table.height, table.frames),
    // Rows of which `prune` may delete something.
    index('picture_contents_looked')
      .on(table.looked_at)
      .where(sql`${table.whole} or (not ${table.pinned} and ${table.stored} is null)`),
  ],
);

/** As many as a decoder sends of one picture (src/pictures/decoder-messages.ts). */
const THUMBNAIL_BYTES = 8 * 1024 * 1024;

/** Thumbnails as WebP. */
export const pictureThumbnails = pgTable(
  'picture_thumbnails',
  {
    sha256: bytea().notNull(),
    width: smallint().notNull(),
    webp: bytea().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.sha256, table.width] }),
    areCounts('picture_thumbnails_counts', table.width),
    areShort('picture_thumbnails_sizes', [table.sha256, table.webp], THUMBNAIL_BYTES),
  ],
);

/**
 * The bytes that a decision was made on, by their place in the game. `sha256` is null until the first bytes of an address
 * that was not fetched before.
 */
export const picturePins = pgTable(
  'picture_pins',
  {
    // Without the reference, a stolen console could bind decisions of others to bytes before they are made.
    audit_id: bigint({ mode: 'number' })
      .notNull()
      .references(() => gameAudits.audit_id),
    /** In `game_icon`; otherwise in `game_store_pic`. */
    is_icon: boolean().notNull(),
    /** From 0. */
    place: smallint().notNull(),
    picture_id: uuid().notNull(),
    sha256: bytea(),
  },
  (table) => [
    primaryKey({ columns: [table.audit_id, table.is_icon, table.place] }),
    index('picture_pins_picture').on(table.picture_id),
    index('picture_pins_sha256').on(table.sha256),
    areCounts('picture_pins_counts', table.audit_id),
    // Bounded, because the media process reads the pins of a thousand decisions at once.
    check('picture_pins_place', sql`${table.place} between 0 and ${sql.raw(String(URLS_MAX - 1))}`),
    areShort('picture_pins_sizes', [table.sha256]),
  ],
);

/**
 * The rule of identities by which the pins of an application have their pictures. After a change of the rule, the media
 * process identifies the pins again (src/pictures/identify-pins.ts).
 */
export const pictureRules = pgTable(
  'picture_rules',
  {
    application_id: text().primaryKey(),
    /** The tag of the rule without the operator's names, and those names. */
    tag: text().notNull(),
    volatile_parameters: text().array().notNull(),
    /** While pins are identified: decisions up to this one have been. */
    after: bigint({ mode: 'number' }),
  },
  (table) => [
    areShort('picture_rules_texts', [table.tag, table.volatile_parameters]),
    areLists('picture_rules_volatile_parameters', [table.volatile_parameters]),
    areNumbers('picture_rules_numbers', table.after),
  ],
);

/** Why a passed game returned to `pending` without a new revision: a picture has other bytes than the decision names. */
export const pictureChanges = pgTable(
  'picture_changes',
  {
    game_id: uuid().notNull(),
    /** The time of the transaction that returned the game to `pending`. */
    found_at: moment('found_at').notNull().defaultNow(),
    picture_id: uuid().notNull(),
    audit_id: bigint({ mode: 'number' }).notNull(),
    before: bytea().notNull(),
    after: bytea().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.game_id, table.found_at, table.picture_id] }),
    areCounts('picture_changes_counts', table.audit_id),
    areShort('picture_changes_sizes', [table.before, table.after]),
  ],
);

/**
 * The difference hash of a game's icon: a hint that two games have the same one. The index `game_icon_hashes_bands`
 * (db/migrations/0001_functions.sql) has the four parts of 16 bits: two hashes that differ in at most three bits share
 * a part.
 */
export const gameIconHashes = pgTable(
  'game_icon_hashes',
  {
    game_id: uuid().primaryKey(),
    dhash: bigint({ mode: 'bigint' }).notNull(),
  },
  // For a page of games, because each look-up by the bands, a GIN index, also reads all entries that are not merged into it
  // yet.
  (table) => [index('game_icon_hashes_dhash').on(table.dhash)],
);
