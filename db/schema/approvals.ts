import { sql } from 'drizzle-orm';
import { check, index, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { moment } from '#db/schema/columns.ts';
import { operators } from '#db/schema/identity.ts';
import { APPROVAL_CLOSINGS, APPROVAL_KINDS } from '#src/contract/approvals.ts';
import type { Role } from '#src/contract/roles.ts';

/** What was asked for beyond kind and subject. */
export type Asked = {
  /** Games of a suspect run; absent: all of them. */
  game_ids?: string[];
  /** What an administrator does to make somebody an officer. */
  act?: 'add' | 'roles' | 'link';
  name?: string;
  roles?: Role[];
};

/**
 * Requests that take a second person: one operator asks, another approves, the first uses it once. Never deleted. The
 * constraints repeat the rule (src/operations/second-person.ts): for any writer, operators cannot approve their own requests, and nothing
 * is late. The trigger `approvals_of_kyc` keeps the console's role from writing requests of the KYC desk.
 */
export const approvals = pgTable(
  'approvals',
  {
    approval_id: uuid().primaryKey(),
    kind: text({ enum: APPROVAL_KINDS }).notNull(),
    /** `application:<id>`, `run:<id>` or `operator:<login>`, as in the audit log. */
    subject: text().notNull(),
    /** What the asker saw: id of the record, the refused cp_id, the number of vanishing games, or the roles of the operator. */
    version: text().notNull(),
    asked: jsonb().$type<Asked>().notNull().default({}),
    reason: text().notNull(),
    asked_by: text()
      .notNull()
      .references(() => operators.login),
    asked_at: moment('asked_at').notNull().defaultNow(),
    /** When the request ends: an hour after it was asked, 15 minutes after it was approved. */
    expires_at: moment('expires_at').notNull(),
    approved_by: text().references(() => operators.login),
    approved_at: moment('approved_at'),
    used_at: moment('used_at'),
    closed_at: moment('closed_at'),
    closed_as: text({ enum: APPROVAL_CLOSINGS }),
  },
  (table) => [
    uniqueIndex('approvals_one_open')
      .on(table.kind, table.subject, table.asked_by)
      .where(sql`${table.used_at} is null and ${table.closed_at} is null`),
    index('approvals_asked_at').on(table.asked_at),
    check('approvals_kind', sql`${table.kind} in ('reveal', 'erase', 'cp-id', 'withdrawals', 'officer')`),
    check('approvals_two_persons', sql`${table.approved_by} <> ${table.asked_by}`),
    check('approvals_approved', sql`(${table.approved_at} is null) = (${table.approved_by} is null)`),
    check('approvals_in_time', sql`${table.approved_at} <= ${table.asked_at} + interval '1 hour'`),
    check(
      'approvals_used_in_time',
      sql`${table.used_at} is null or (${table.approved_at} is not null and ${table.used_at} <= ${table.approved_at} + interval '15 minutes')`,
    ),
    check('approvals_one_end', sql`${table.used_at} is null or ${table.closed_at} is null`),
    check('approvals_closed', sql`(${table.closed_at} is null) = (${table.closed_as} is null)`),
  ],
);
