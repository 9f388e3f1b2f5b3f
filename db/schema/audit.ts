import { sql } from 'drizzle-orm';
import { bigint, boolean, check, index, jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import { areShort, bytea, isOneOf, moment } from '#db/schema/columns.ts';
import { ACTOR_KINDS } from '#src/contract/audit.ts';

/**
 * Who did what to what, when and why. Append-only: a trigger refuses update, delete and truncate. A second trigger
 * assigns `entry_id`, `at` and the hashes, so that entries of concurrent transactions form one chain.
 */
export const auditLog = pgTable(
  'audit_log',
  {
    /** 1, 2, 3, … without gaps, in the order of commits. */
    entry_id: bigint({ mode: 'number' }).primaryKey(),
    at: moment('at').notNull(),
    actor: text().notNull(),
    actor_kind: text({ enum: ACTOR_KINDS }).notNull(),
    /** The user of the operating system that ran the command line. */
    os_user: text(),
    action: text().notNull(),
    /** `<kind>:<id>`, such as `application:acme`. */
    subject: text().notNull(),
    reason: text(),
    /** Never a token or a value of a KYC record. */
    details: jsonb().$type<Record<string, unknown>>().notNull().default({}),
    /** The hash of the entry before this one; 32 zero bytes for the first. */
    previous_hash: bytea().notNull(),
    /** SHA-256 of `previous_hash` and the other columns (function `audit_hash`). */
    hash: bytea().notNull(),
  },
  (table) => [
    index('audit_log_actor').on(table.actor, table.entry_id),
    index('audit_log_action').on(table.action, table.entry_id),
    index('audit_log_subject').on(table.subject, table.entry_id),
    index('audit_log_at').on(table.at),
    isOneOf('audit_log_actor_kind', table.actor_kind, ACTOR_KINDS),
    areShort('audit_log_texts', [table.actor, table.os_user, table.action, table.subject, table.reason]),
    // Those of a request may name 10,000 games.
    areShort('audit_log_facts', [table.details], 1_000_000),
    check('audit_log_details', sql`jsonb_typeof(${table.details}) = 'object'`),
  ],
);

/** One row: the last entry of `audit_log`. Writers lock it; `audit verify` compares it, so a removed last entry shows. */
export const auditHead = pgTable(
  'audit_head',
  {
    is_single: boolean().primaryKey().default(true),
    entry_id: bigint({ mode: 'number' }).notNull(),
    hash: bytea().notNull(),
  },
  (table) => [check('audit_head_single', sql`${table.is_single}`)],
);
