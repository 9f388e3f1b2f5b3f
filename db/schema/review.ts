import { sql } from 'drizzle-orm';
import {
  bigint,
  check,
  index,
  integer,
  pgTable,
  primaryKey,
  smallint,
  text,
  timestamp,
  uuid,
} from 'drizzle-orm/pg-core';
import { applicationId } from '#db/schema/applications.ts';
import { areCounts, areShort, areTimes, moment } from '#db/schema/columns.ts';
import { syncRuns } from '#db/schema/runs.ts';

// The tables of the review room. The trigger `games_review` writes `changed_games` and `game_absences`. They have no foreign
// keys to `games`, because no process deletes a game, and each key would cost every write to `games`.

/**
 * The changed lane: games that are pending, not withdrawn, and were decided before. The new lane is the other pending
 * games, read from the index `games_pages`.
 */
export const changedGames = pgTable(
  'changed_games',
  {
    game_id: uuid().primaryKey(),
    application_id: text().notNull(),
    /** The revision of the last decision. */
    decided_revision: integer().notNull(),
    /** In milliseconds, because a cursor contains it. */
    since: timestamp('since', { withTimezone: true, precision: 3 }).notNull().defaultNow(),
    /**
     * When the media process next checks whether the last decision can be carried over to this revision. Null: it cannot be
     * carried over.
     */
    carry_at: moment('carry_at'),
  },
  (table) => [
    index('changed_games_carry').on(table.carry_at).where(sql`${table.carry_at} is not null`),
    // The application is read from the index, because most games of a page may belong to other streams of the lane.
    index('changed_games_lane').on(table.since, table.game_id, table.application_id),
    index('changed_games_application').on(table.application_id, table.since, table.game_id),
    areCounts('changed_games_counts', table.decided_revision),
    areTimes('changed_games_times', table.since),
  ],
);

/** When games were withdrawn, and when they came back. */
export const gameAbsences = pgTable(
  'game_absences',
  {
    game_id: uuid().notNull(),
    withdrawn_at: moment('withdrawn_at').notNull(),
    /** Null while withdrawn. */
    returned_at: moment('returned_at'),
  },
  (table) => [primaryKey({ columns: [table.game_id, table.withdrawn_at] })],
);

/** Why games are rejected. A retired reason stays for the decisions that name it. */
export const reasons = pgTable(
  'reasons',
  {
    code: text().primaryKey(),
    /** What the application's developer reads. */
    label: text().notNull(),
    /** What a rejection begins with; the reviewer may change it. */
    text: text().notNull().default(''),
    position: smallint().notNull(),
    retired_at: moment('retired_at'),
  },
  (table) => [
    areCounts('reasons_counts', table.position),
    // As the form has them, because every decision reads all reasons. A trigger bounds their number.
    check(
      'reasons_texts',
      sql`${table.code} ~ '^[a-z][a-z0-9_]{0,39}$' and char_length(${table.label}) <= 200
        and char_length(${table.text}) <= 4000`,
    ),
  ],
);

/** The games that the last suspect run of an application would have withdrawn. */
export const vanishingGames = pgTable(
  'vanishing_games',
  {
    run_id: uuid()
      .notNull()
      .references(() => syncRuns.run_id, { onDelete: 'cascade' }),
    game_id: uuid().notNull(),
  },
  (table) => [primaryKey({ columns: [table.run_id, table.game_id] })],
);

/** Who reviews a game now, so that other reviewers are led past it. A lease is no lock; the revision guards the decision. */
export const gameLeases = pgTable(
  'game_leases',
  {
    game_id: uuid().primaryKey(),
    holder: text().notNull(),
    /** The game whose page fetched this one ahead: a reviewer who looks at that game renews both leases. */
    claimed_from: uuid(),
    leased_until: moment('leased_until').notNull(),
  },
  (table) => [
    index('game_leases_until').on(table.leased_until),
    areShort('game_leases_texts', [table.holder]),
  ],
);

/** Who looks at a game now, as a hint for other reviewers. Rows of the last day also say which games a reviewer opened. */
export const gameViewers = pgTable(
  'game_viewers',
  {
    game_id: uuid().notNull(),
    viewer: text().notNull(),
    /** The latest content that was on the screen. */
    revision: integer().notNull(),
    seen_at: moment('seen_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.game_id, table.viewer] }),
    index('game_viewers_seen').on(table.seen_at),
    areCounts('game_viewers_counts', table.revision),
    areShort('game_viewers_texts', [table.viewer]),
  ],
);

/** The applications whose games an operator holds back from group A. */
export const applicationHolds = pgTable(
  'application_holds',
  {
    application_id: applicationId().primaryKey(),
    /** What the application's developer reads. */
    reason: text().notNull(),
    held_by: text().notNull(),
    held_at: moment('held_at').notNull().defaultNow(),
  },
  (table) => [areShort('application_holds_texts', [table.reason, table.held_by])],
);

/** The passed games that a hold has returned to pending, with the decision that stood: a release passes them again. */
export const heldGames = pgTable(
  'held_games',
  {
    game_id: uuid().primaryKey(),
    application_id: text().notNull(),
    audit_id: bigint({ mode: 'number' }).notNull(),
  },
  (table) => [
    index('held_games_application').on(table.application_id),
    areCounts('held_games_counts', table.audit_id),
  ],
);
