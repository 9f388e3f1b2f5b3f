import { sql } from 'drizzle-orm';
import { bigint, check, index, integer, jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import {
  areCounts,
  areKeys,
  areLists,
  areShort,
  areTimes,
  bytea,
  isOneOf,
  moment,
} from '#db/schema/columns.ts';
import { APPLICATION_STATUSES, REVIEW_PRIORITIES } from '#src/contract/words.ts';

/** One data key, wrapped by one key-encryption key; `wrapped` is base64. */
export type WrappedKey = { key_id: string; wrapped: string };

/** Registered applications: their webhooks, schedules and limits. */
export const applications = pgTable(
  'applications',
  {
    application_id: text().primaryKey(),
    name: text().notNull(),
    query_game_list_webhook: text().notNull(),
    query_game_detail_webhook: text().notNull(),
    query_cp_kyc_webhook: text().notNull(),
    /** Sealed with a data key, which `access_token_keys` stores wrapped. Null after the application is removed. */
    access_token: bytea(),
    access_token_keys: jsonb().$type<WrappedKey[]>().notNull().default([]),
    every_ms: bigint({ mode: 'number' }).notNull(),
    kyc_every_ms: bigint({ mode: 'number' }).notNull(),
    detail_max_age_ms: bigint({ mode: 'number' }).notNull(),
    /** Most detail calls at the same time. */
    concurrency: integer().notNull(),
    /** Most calls of lists, and of details, that begin within a second. */
    rate: integer().notNull(),
    /** Parameters of addresses that are no part of their identity, besides those of known signers. */
    volatile_parameters: text().array().notNull().default([]),
    /** How soon its games are due in the lanes. */
    review_priority: text({ enum: REVIEW_PRIORITIES }).notNull().default('normal'),
    status: text({ enum: APPLICATION_STATUSES }).notNull().default('active'),
    /** These three columns and `pause_reason` are the backoff (src/rules/backoff.ts). */
    failed_runs: integer().notNull().default(0),
    failing_since: moment('failing_since'),
    next_attempt_at: moment('next_attempt_at'),
    /** Why it was paused automatically; null when an operator paused it. */
    pause_reason: text(),
    /** When a run last succeeded, completely or partly. */
    last_success_at: moment('last_success_at'),
    /** When the last complete run began, which fetched each detail that had become too old by then (db/queries/detail-ages.ts). */
    details_due_at: moment('details_due_at'),
    /** When the last complete run that fetched every detail began. */
    details_full_at: moment('details_full_at'),
    created_at: moment('created_at').notNull().defaultNow(),
    updated_at: moment('updated_at').notNull().defaultNow(),
  },
  (table) => [
    // The lanes read the few applications whose games have another due time than the others.
    index('applications_prioritized')
      .on(table.application_id)
      .where(sql`${table.review_priority} <> 'normal'`),
    isOneOf('applications_review_priority', table.review_priority, REVIEW_PRIORITIES),
    isOneOf('applications_status', table.status, APPLICATION_STATUSES),
    areCounts('applications_counts', table.failed_runs),
    areShort('applications_texts', [
      table.name,
      table.query_game_list_webhook,
      table.query_game_detail_webhook,
      table.query_cp_kyc_webhook,
      table.access_token,
      table.volatile_parameters,
      table.pause_reason,
    ]),
    areTimes('applications_times', table.last_success_at, table.failing_since),
    // No more than `applicationSettings` allows.
    check(
      'applications_pace',
      sql`${table.every_ms} between 1 and 2592000000 and ${table.kyc_every_ms} between 1 and 2592000000
        and ${table.detail_max_age_ms} between 0 and 31536000000
        and ${table.concurrency} between 1 and 100 and ${table.rate} between 1 and 100000`,
    ),
    areLists('applications_volatile_parameters', [table.volatile_parameters]),
    areKeys('applications_access_token_keys', table.access_token_keys),
    check('applications_application_id', sql`${table.application_id} ~ '^[a-z0-9][a-z0-9-]{0,62}$'`),
  ],
);

/** The application that a row belongs to. */
export const applicationId = (actions?: { onDelete: 'cascade' }) =>
  text()
    .notNull()
    .references(() => applications.application_id, actions);
