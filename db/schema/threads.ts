import { sql } from 'drizzle-orm';
import { bigint, bigserial, check, index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { areShort, isOneOf, moment } from '#db/schema/columns.ts';
import { APPEAL_OUTCOMES, MESSAGE_KINDS } from '#src/contract/words.ts';

// What is written about one game. Triggers keep the rules (db/migrations/0001_functions.sql). No foreign keys to `games`,
// because no process deletes a game.

/** The thread of a game: notes of operators, messages to its developer, and the developer's answers. */
export const gameMessages = pgTable(
  'game_messages',
  {
    message_id: bigserial({ mode: 'number' }).primaryKey(),
    game_id: uuid().notNull(),
    application_id: text().notNull(),
    /** `note`: operators alone read it. `message`: its developer reads it. `answer`: its developer wrote it. */
    kind: text({ enum: MESSAGE_KINDS }).notNull(),
    /** The operator; of an answer, the application. */
    written_by: text().notNull(),
    text: text().notNull(),
    written_at: moment('written_at').notNull().defaultNow(),
  },
  (table) => [
    index('game_messages_game').on(table.game_id, table.message_id),
    // What a developer wrote within a day.
    index('game_messages_answers')
      .on(table.application_id, table.written_at)
      .where(sql`${table.kind} = 'answer'`),
    // What reviewers wrote to a developer.
    index('game_messages_to_developers')
      .on(table.application_id, table.message_id)
      .where(sql`${table.kind} = 'message'`),
    isOneOf('game_messages_kind', table.kind, MESSAGE_KINDS),
    areShort('game_messages_texts', [table.written_by]),
    check('game_messages_text', sql`char_length(${table.text}) between 1 and 4000`),
  ],
);

/** Appeals of developers against rejections: one for each. Another reviewer than the one who rejected decides it. */
export const gameAppeals = pgTable(
  'game_appeals',
  {
    appeal_id: bigserial({ mode: 'number' }).primaryKey(),
    game_id: uuid().notNull(),
    application_id: text().notNull(),
    /** The rejection. One that was carried over is the same rejection. */
    audit_id: bigint({ mode: 'number' }).notNull().unique('game_appeals_rejection'),
    rejected_by: text().notNull(),
    text: text().notNull(),
    opened_at: moment('opened_at').notNull().defaultNow(),
    /** Null while open. `void`: another decision was made, because the content of the game had changed. */
    outcome: text({ enum: APPEAL_OUTCOMES }),
    /** Null if void. */
    decided_by: text(),
    /** What the developer reads of the outcome. */
    answer: text(),
    decided_at: moment('decided_at'),
  },
  (table) => [
    uniqueIndex('game_appeals_open').on(table.game_id).where(sql`${table.outcome} is null`),
    index('game_appeals_lane').on(table.opened_at, table.appeal_id).where(sql`${table.outcome} is null`),
    index('game_appeals_game').on(table.game_id),
    index('game_appeals_application').on(table.application_id, table.opened_at),
    isOneOf('game_appeals_outcome', table.outcome, APPEAL_OUTCOMES),
    areShort('game_appeals_texts', [table.decided_by]),
    check(
      'game_appeals_decided',
      sql`(${table.outcome} is null) = (${table.decided_at} is null)
        and coalesce(${table.outcome} in ('upheld', 'overturned'), false) = (${table.decided_by} is not null)
        and (${table.decided_by} is null) = (${table.answer} is null)`,
    ),
    check(
      'game_appeals_text',
      sql`char_length(${table.text}) between 1 and 4000 and char_length(${table.answer}) between 1 and 4000`,
    ),
  ],
);
